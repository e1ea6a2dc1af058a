// JSON feed writer (OPDS 2.0).
import { singleLine } from '../../../media/metadata/text.ts'
import { withoutEmpty } from '../../publication/json-writer.ts'
import type { Links } from '../../publication/links.ts'
import { feedType } from '../../publication/media-types.ts'
import {
  catalogRoot,
  type Feed,
  type FeedContext,
  type FeedRef,
  feedUpdatedAt,
  formatTimestamp,
  type Group,
  type NavigationEntry,
  pageLinks,
} from '../feed.ts'
import { untitled } from '../title.ts'
import { publicationOf } from './publication.ts'

export function jsonFeed(feed: Feed, context: FeedContext): object {
  const { links } = context
  const { paging } = feed
  const content = contentOf(feed, context)
  const counts = paging && {
    numberOfItems: paging.total,
    itemsPerPage: paging.pageSize,
    currentPage: paging.page,
  }
  return withoutEmpty({
    metadata: {
      title: titleOf(feed),
      modified: formatTimestamp(feedUpdatedAt(feed, context)),
      ...(content === null ? { numberOfItems: 0, ...counts } : counts),
    },
    links: linksOf(feed, links),
    // The JSON Schema does not allow a feed without items.
    ...(content ?? { navigation: [rootLink(links)] }),
    facets: facetsOf(feed, links),
  })
}

const titleOf = ({ title }: Pick<FeedRef, 'title'>) => singleLine(title) ?? untitled

/** Null for an empty feed. */
function contentOf(feed: Feed, context: FeedContext): object | null {
  const items =
    feed.kind === 'acquisition'
      ? { publications: feed.books.map(book => publicationOf(book, context, feed.isMixed)) }
      : { navigation: feed.entries.map(entry => navigationLink(entry, context.links)) }
  const isEmpty = Object.values(items)[0]!.length + feed.groups.length === 0
  return isEmpty ? null : { ...items, groups: feed.groups.map(group => groupOf(group, context)) }
}

function linksOf(feed: Feed, links: Links): object[] {
  const related = feed.related.map(ref => ({
    rel: 'related',
    title: titleOf(ref),
    ...linkTo(ref, links),
  }))
  return [
    ...pageLinks(feed, links).map(link => ({ ...link, type: feedType })),
    { rel: 'start', ...linkTo(catalogRoot, links) },
    ...(feed.up ? [{ rel: 'up', title: titleOf(feed.up), ...linkTo(feed.up, links) }] : []),
    // KOReader replaces `{?query}` in exactly this spelling.
    { rel: 'search', href: links.template('/search', '{?query}'), type: feedType, templated: true },
    ...related,
  ]
}

const linkTo = ({ path, query }: Pick<FeedRef, 'path' | 'query'>, links: Links) => ({
  href: links.to(path, query),
  type: feedType,
})

const rootLink = (links: Links) => ({
  title: 'Back to the catalog',
  ...linkTo(catalogRoot, links),
})

function navigationLink(entry: NavigationEntry, links: Links): object {
  return {
    title: titleOf(entry),
    rel: entry.rel ?? 'subsection',
    ...linkTo(entry, links),
    properties: { numberOfItems: entry.count },
  }
}

function facetsOf({ path, facets }: Feed, links: Links): object[] {
  return facets.map(group => ({
    metadata: { title: titleOf(group) },
    links: group.facets.map(({ title, query, count, isActive }) => ({
      ...(isActive ? { rel: 'self' } : {}),
      title: titleOf({ title }),
      ...linkTo({ path, query }, links),
      properties: { numberOfItems: count },
    })),
  }))
}

function groupOf(group: Group, context: FeedContext): object {
  const { links } = context
  return {
    metadata: { title: titleOf(group), numberOfItems: group.total },
    links: [{ rel: 'self', ...linkTo(group, links) }],
    ...(group.kind === 'acquisition'
      ? { publications: group.books.map(book => publicationOf(book, context, true)) }
      : { navigation: group.entries.map(entry => navigationLink(entry, links)) }),
  }
}
