// Reader of OPDS 2.0 and Readium JSON documents.
import type { Document, Item, Link } from './document.ts'

type Json = Record<string, any>

export function readJson(text: string): Document {
  const json: Json = JSON.parse(text)
  const links = linksOf(json.links)
  const self = links.find(link => link.rels.includes('self'))
  const common = {
    version: 2 as const,
    id: self?.href ?? '',
    title: titleOf(json.metadata),
    updated: json.metadata?.modified ?? null,
    items: [],
    paging: null,
    json,
  }
  const reading = [json.readingOrder, json.resources, json.toc, json.landmarks, json.pageList]
  if (json.readingOrder)
    return { ...common, shape: 'manifest', links: [...links, ...reading.flatMap(nested)] }
  if (json.images) return { ...common, shape: 'entry', links: [...links, ...linksOf(json.images)] }
  const isFeed = json.navigation || json.publications || json.groups
  if (!isFeed) return { ...common, shape: 'other', links }
  const { numberOfItems: total, itemsPerPage: size, currentPage: page } = json.metadata
  return {
    ...common,
    shape: 'feed',
    links: [...links, ...facetsOf(json), ...groupLinks(json)],
    items: [...itemsOf(json), ...(json.groups ?? []).flatMap(itemsOf)],
    paging: page === undefined ? null : { total, size, page },
  }
}

function itemsOf({ navigation = [], publications = [] }: Json): Item[] {
  const entries = navigation.map(
    (entry: Json): Item => ({
      id: entry.href,
      title: entry.title ?? '',
      updated: null,
      isBook: false,
      links: [...linksOf([entry]), ...linksOf(entry.images)],
    }),
  )
  const books = publications.map((book: Json): Item => {
    const links = [...linksOf(book.links), ...imagesOf(book)]
    return {
      id: links.find(link => link.rels.includes('self'))?.href ?? '',
      title: titleOf(book.metadata),
      updated: book.metadata?.modified ?? null,
      isBook: true,
      links,
    }
  })
  return [...entries, ...books]
}

/** Facets with the title of their group. */
const facetsOf = ({ facets = [] }: Json): Link[] =>
  facets.flatMap((facet: Json) =>
    linksOf(facet.links).map(link => ({
      ...link,
      rels: ['http://opds-spec.org/facet'],
      group: titleOf(facet.metadata),
      isActive: link.rels.includes('self'),
    })),
  )

/** Links of groups, which lead to the complete lists. */
const groupLinks = ({ groups = [] }: Json): Link[] =>
  groups.flatMap((group: Json) =>
    linksOf(group.links).map(link => ({
      ...link,
      rels: ['subsection'],
      count: group.metadata?.numberOfItems ?? link.count,
    })),
  )

const imagesOf = ({ images = [] }: Json) =>
  linksOf(images).map(link => ({ ...link, rels: ['http://opds-spec.org/image'] }))

/** Links and their children, as in a table of contents. */
const nested = (links: Json[] | undefined): Link[] =>
  (links ?? []).flatMap(link => [...linksOf([link]), ...nested(link.children)])

function linksOf(links: Json[] | undefined): Link[] {
  return (links ?? []).flatMap(link => [
    {
      rels: link.rel === undefined ? [] : [link.rel].flat(),
      href: link.href ?? '',
      type: link.type ?? '',
      title: link.title ?? '',
      isTemplate: link.templated === true,
      count: link.properties?.numberOfItems ?? null,
      group: null,
      isActive: false,
      length: link.size ?? null,
      pages: null,
    },
    ...linksOf(link.alternate),
    ...linksOf(link.properties?.authenticate ? [link.properties.authenticate] : []),
  ])
}

const titleOf = (metadata: Json | undefined): string => String(metadata?.title ?? '')
