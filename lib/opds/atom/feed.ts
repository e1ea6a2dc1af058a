// A feed as Atom (OPDS 1.2, RFC 4287).
import type { AcquisitionFeed, Feed, Paging, Ref } from '../feed.ts'
import type { Links } from '../links.ts'
import { pageLinks } from '../paged.ts'
import { feedUpdated, stamp } from '../when.ts'
import type { Writing } from '../writing.ts'
import { bookEntry, feedEntry, named } from './entry.ts'
import { feedId } from './id.ts'
import { feedType, link, linkTitle, namespaces, searchType } from './link.ts'
import { document, element, text, type Xml } from './xml.ts'

export function atomFeed(feed: Feed, writing: Writing): string {
  return document(
    element(
      'feed',
      namespaces,
      text('id', feedId(feed)),
      text('title', named(feed.title)),
      text('updated', stamp(feedUpdated(feed, writing))),
      element('author', {}, text('name', named(writing.server))),
      ...linksOf(feed, writing.links),
      ...(feed.kind === 'acquisition' ? facets(feed, writing.links) : []),
      ...(feed.paging === null ? [] : counts(feed.paging)),
      ...entries(feed, writing),
    ),
  )
}

function linksOf(feed: Feed, links: Links): Xml[] {
  const type = feedType(feed.kind)
  const to = (rel: string, { path, query, title, kind }: Ref) =>
    link(rel, links.to(path, query), { type: feedType(kind), title: named(title) })
  return [
    ...pageLinks(feed, links).map(({ rel, href }) => link(rel, href, { type })),
    link('start', links.to(''), { type: feedType('navigation'), title: 'Catalogue' }),
    ...(feed.up ? [to('up', feed.up)] : []),
    link('search', links.to('/search.xml'), { type: searchType, title: 'Search' }),
    ...(feed.path === ''
      ? [link('alternate', links.root(2), { type: 'application/opds+json', title: 'OPDS 2.0' })]
      : []),
    ...feed.related.map(other => to('related', other)),
  ]
}

/** Facets (OPDS 1.2 §4.3), which only feeds of books may have. */
function facets({ facets, path, kind }: AcquisitionFeed, links: Links): Xml[] {
  return facets.flatMap(group =>
    group.facets.map(({ title, query, count, isActive }) =>
      link('http://opds-spec.org/facet', links.to(path, query), {
        type: feedType(kind),
        title: linkTitle(group.title, named(title)),
        'opds:facetGroup': group.title,
        'opds:activeFacet': isActive ? 'true' : undefined,
        'thr:count': count,
      }),
    ),
  )
}

function counts({ page, pageSize, total }: Paging): Xml[] {
  return [
    text('opensearch:totalResults', total),
    text('opensearch:itemsPerPage', pageSize),
    text('opensearch:startIndex', (page - 1) * pageSize + 1),
  ]
}

function entries(feed: Feed, writing: Writing): Xml[] {
  if (feed.kind === 'navigation') return feed.entries.map(entry => feedEntry(entry, writing))
  const { books, isMixed } = feed
  return books.map(book => bookEntry(book, { writing, isMixed }))
}
