// Shelves of collections, with their series, and of read lists, with their books.
import { uuid } from '../../../base/schema.ts'
import { singleLine } from '../../../media/metadata/text.ts'
import { booksOfReadList, seriesOfCollection } from '../../../organize/grouping/contents.ts'
import { collections, type Grouping, readLists } from '../../../organize/grouping/grouping.ts'
import { type GroupingRow, listGroupings } from '../../../organize/grouping/list.ts'
import { publicationsByIds } from '../../publication/publication.ts'
import {
  acquisitionFeed,
  type FeedRef,
  type NavigationEntry,
  navigationFeed,
  navigationRef,
} from '../feed.ts'
import { countOf, seriesEntries } from './entry.ts'
import { pagingOf, type Shelf } from './shelf.ts'

export const collectionsRef = navigationRef('/collections', 'Collections')
export const readListsRef = navigationRef('/readlists', 'Read lists')

/** Reading apps cannot add to empty ones. */
const withEmpty = false

const kinds = [
  { grouping: collections, ref: collectionsRef, kind: 'navigation', noun: 'series' },
  { grouping: readLists, ref: readListsRef, kind: 'acquisition', noun: 'book' },
] as const

const listShelves = kinds.map(
  ({ grouping, ref, kind, noun }): Shelf => ({
    path: ref.path,
    summary: `${ref.title} by name`,
    async load(request) {
      const { viewer, page, pageSize } = request
      const { rows, total } = await listGroupings(request, viewer, grouping, { page, pageSize })
      const entries = rows.map(
        ({ id, name, count, summary, updatedAt }): NavigationEntry => ({
          ...{ id, path: `${ref.path}/${id}`, title: name, kind, updatedAt },
          // An empty one has no cover; its link would lead to a 404.
          ...(count === 0 ? {} : { cover: `${ref.path}/${id}` }),
          ...(count === null ? {} : { count }),
          description: [
            count === null ? 'Series by a rule.' : `${countOf(count, noun)}.`,
            singleLine(summary ?? '') ?? '',
          ]
            .join(' ')
            .trim(),
        }),
      )
      return navigationFeed({ ...ref, entries, paging: pagingOf(request, total) })
    },
  }),
)

const params = (grouping: Grouping) => ({ id: uuid({ description: `${grouping.name} id.` }) })
const feedOf = ({ id, name, updatedAt }: GroupingRow, up: FeedRef) => ({
  ...{ path: `${up.path}/${id}`, id, title: name, updatedAt, up },
})

const oneCollection: Shelf = {
  path: '/collections/{id}',
  summary: 'The series of a collection, in its order',
  params: params(collections),
  async load(request) {
    const { viewer, page, pageSize, params } = request
    const window = { id: params.id!, withEmpty, page, pageSize }
    const { ids, total, grouping } = await seriesOfCollection(request, viewer, window)
    const entries = await seriesEntries(request, ids)
    const feed = feedOf(grouping, collectionsRef)
    return navigationFeed({ ...feed, entries, paging: pagingOf(request, total) })
  },
}

const oneReadList: Shelf = {
  path: '/readlists/{id}',
  summary: 'The books of a read list, in its order',
  params: params(readLists),
  async load(request) {
    const { sql, viewer, page, pageSize, params } = request
    const window = { id: params.id!, withEmpty, page, pageSize }
    const { ids, total, grouping } = await booksOfReadList(request, viewer, window)
    const books = await publicationsByIds(sql, viewer, ids)
    const feed = feedOf(grouping, readListsRef)
    return acquisitionFeed({ ...feed, books, paging: pagingOf(request, total) })
  },
}

export const groupingShelves: Shelf[] = [...listShelves, oneCollection, oneReadList]
