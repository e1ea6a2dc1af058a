// A feed as JSON (OPDS 2.0).
import { line } from '../../metadata/text.ts'
import { catalogue, type Entry, type Feed, type Group, type Ref } from '../feed.ts'
import type { Links } from '../links.ts'
import { pageLinks } from '../paged.ts'
import { untitled } from '../title.ts'
import { feedUpdated, stamp } from '../when.ts'
import type { Writing } from '../writing.ts'
import { feedType } from './media.ts'
import { publicationOf } from './publication.ts'
import { withoutEmpty } from './without-empty.ts'

export function jsonFeed(feed: Feed, writing: Writing): object {
  const { links } = writing
  const { paging } = feed
  const content = contentOf(feed, writing)
  const counts = paging && {
    numberOfItems: paging.total,
    itemsPerPage: paging.pageSize,
    currentPage: paging.page,
  }
  return withoutEmpty({
    metadata: {
      title: titleOf(feed),
      modified: stamp(feedUpdated(feed, writing)),
      ...(content === null ? { numberOfItems: 0, ...counts } : counts),
    },
    links: linksOf(feed, links),
    // The schema knows no feed without items.
    ...(content ?? { navigation: [wayBack(links)] }),
    facets: facetsOf(feed, links),
  })
}

const titleOf = ({ title }: Pick<Ref, 'title'>) => line(title) ?? untitled

/** Null when there is nothing in it. */
function contentOf(feed: Feed, writing: Writing): object | null {
  if (feed.kind === 'acquisition') {
    if (feed.books.length === 0) return null
    return { publications: feed.books.map(book => publicationOf(book, writing, feed.isMixed)) }
  }
  const { entries, groups } = feed
  if (entries.length + groups.length === 0) return null
  return {
    navigation: entries.map(entry => navigationLink(entry, writing.links)),
    groups: groups.map(group => groupOf(group, writing)),
  }
}

function linksOf(feed: Feed, links: Links): object[] {
  const related = feed.related.map(ref => ({
    rel: 'related',
    title: titleOf(ref),
    ...to(ref, links),
  }))
  return [
    ...pageLinks(feed, links).map(link => ({ ...link, type: feedType })),
    { rel: 'start', ...to(catalogue, links) },
    ...(feed.up ? [{ rel: 'up', title: titleOf(feed.up), ...to(feed.up, links) }] : []),
    // KOReader fills in `{?query}` in exactly this spelling.
    { rel: 'search', href: links.template('/search', '{?query}'), type: feedType, templated: true },
    ...related,
  ]
}

const to = ({ path, query }: Pick<Ref, 'path' | 'query'>, links: Links) => ({
  href: links.to(path, query),
  type: feedType,
})

const wayBack = (links: Links) => ({ title: 'Back to the catalogue', ...to(catalogue, links) })

function navigationLink(entry: Entry, links: Links): object {
  return {
    title: titleOf(entry),
    rel: entry.rel ?? 'subsection',
    ...to(entry, links),
    properties: { numberOfItems: entry.count },
  }
}

function facetsOf({ path, facets }: Feed, links: Links): object[] {
  return facets.map(group => ({
    metadata: { title: titleOf(group) },
    links: group.facets.map(({ title, query, count, isActive }) => ({
      ...(isActive ? { rel: 'self' } : {}),
      title: titleOf({ title }),
      ...to({ path, query }, links),
      properties: { numberOfItems: count },
    })),
  }))
}

function groupOf(group: Group, writing: Writing): object {
  const { links } = writing
  return {
    metadata: { title: titleOf(group), numberOfItems: group.total },
    links: [{ rel: 'self', ...to(group, links) }],
    ...(group.kind === 'acquisition'
      ? { publications: group.books.map(book => publicationOf(book, writing, true)) }
      : { navigation: group.entries.map(entry => navigationLink(entry, links)) }),
  }
}
