// Atom feed writer (OPDS 1.2, RFC 4287), and the OpenSearch description of the search (OpenSearch 1.1, OPDS 1.2 §3.3).
import { document, element, removeInvalidChars, text, type Xml } from '../../../base/xml-writer.ts'
import type { Links } from '../../publication/links.ts'
import {
  type AcquisitionFeed,
  type Feed,
  type FeedContext,
  type FeedRef,
  feedUpdatedAt,
  formatTimestamp,
  type Paging,
  pageLinks,
} from '../feed.ts'
import { bookEntry, feedEntry, titleOrUntitled } from './entry.ts'
import { feedId, feedType, link, linkTitle, namespaces, searchType } from './link.ts'

export function atomFeed(feed: Feed, context: FeedContext): string {
  const { links, serverName } = context
  return document(
    element(
      'feed',
      namespaces,
      text('id', feedId(feed)),
      text('title', titleOrUntitled(feed.title)),
      text('updated', formatTimestamp(feedUpdatedAt(feed, context))),
      element('author', {}, text('name', titleOrUntitled(serverName))),
      ...linksOf(feed, links),
      ...(feed.kind === 'acquisition' ? facetLinks(feed, links) : []),
      ...(feed.paging === null ? [] : counts(feed.paging)),
      ...entries(feed, context),
    ),
  )
}

function linksOf(feed: Feed, links: Links): Xml[] {
  const type = feedType(feed.kind)
  const linkTo = (rel: string, { path, query, title, kind }: FeedRef) =>
    link(rel, links.to(path, query), { type: feedType(kind), title: titleOrUntitled(title) })
  return [
    ...pageLinks(feed, links).map(({ rel, href }) => link(rel, href, { type })),
    link('start', links.to(''), { type: feedType('navigation'), title: 'Catalog' }),
    ...(feed.up ? [linkTo('up', feed.up)] : []),
    link('search', links.to('/search.xml'), { type: searchType, title: 'Search' }),
    // For apps that do not read descriptions.
    link('search', links.template('/search', '?q={searchTerms}'), {
      type: 'application/atom+xml',
      title: 'Search',
    }),
    ...(feed.path === ''
      ? [link('alternate', links.root(2), { type: 'application/opds+json', title: 'OPDS 2.0' })]
      : []),
    ...feed.related.map(ref => linkTo('related', ref)),
  ]
}

/** Facets (OPDS 1.2 §4.3), which are allowed only in acquisition feeds. */
function facetLinks({ facets, path, kind }: AcquisitionFeed, links: Links): Xml[] {
  return facets.flatMap(group =>
    group.facets.map(({ title, query, count, isActive }) =>
      link('http://opds-spec.org/facet', links.to(path, query), {
        type: feedType(kind),
        title: linkTitle(group.title, titleOrUntitled(title)),
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

function entries(feed: Feed, context: FeedContext): Xml[] {
  if (feed.kind === 'navigation') return feed.entries.map(entry => feedEntry(entry, context))
  const { books, isMixed } = feed
  return books.map(book => bookEntry(book, { context, isMixed }))
}

/** Apps replace `{searchTerms}`, and support no other parameter. */
export function searchDescription(links: Links, serverName: string): string {
  const name = titleOrUntitled(serverName)
  return document(
    element(
      'OpenSearchDescription',
      { xmlns: namespaces['xmlns:opensearch'] },
      text('ShortName', truncate(name, 16)),
      text('Description', `Books in ${name}`),
      element('Url', {
        type: feedType('acquisition'),
        template: links.template('/search', '?q={searchTerms}'),
      }),
      // Apps use the first URL.
      element('Url', {
        type: feedType('navigation'),
        template: links.template('/series', '?search={searchTerms}'),
      }),
      text('InputEncoding', 'UTF-8'),
      text('OutputEncoding', 'UTF-8'),
    ),
  )
}

const graphemes = new Intl.Segmenter()

/** As many complete graphemes as fit. */
function truncate(text: string, maxLength: number): string {
  let short = ''
  for (const { segment } of graphemes.segment(removeInvalidChars(text).trim())) {
    if (short.length + segment.length > maxLength) break
    short += segment
  }
  return short.trim()
}
