// Shelves of publishers, genres and tags; each entry links to the series with that label.
import { browseLabels, type LabelEntry, listPublishers } from '../../../catalog/label/label-list.ts'
import { type FeedRef, type NavigationEntry, navigationFeed } from '../feed.ts'
import { countOf } from './entry.ts'
import { genres, publishers, tags } from './series-list.ts'
import { offsetOf, pagingOf, type Shelf, type ShelfRequest } from './shelf.ts'

type List = (request: ShelfRequest) => Promise<{ data: LabelEntry[]; total: number }>
type LabelKind = {
  ref: FeedRef
  /** The query parameter of `/series`. */
  parameter: string
  list: List
}

const pageOf = (request: ShelfRequest) => ({
  offset: offsetOf(request),
  pageSize: request.pageSize,
})
const listLabels =
  (kind: 'genre' | 'tag'): List =>
  request =>
    browseLabels(request.sql, request.viewer, { kind, ...pageOf(request) })

const kinds: LabelKind[] = [
  {
    ref: publishers,
    parameter: 'publisher',
    list: request => listPublishers(request.sql, request.viewer, pageOf(request)),
  },
  { ref: genres, parameter: 'genre', list: listLabels('genre') },
  { ref: tags, parameter: 'tag', list: listLabels('tag') },
]

export const labelShelves: Shelf[] = kinds.map(({ ref, parameter, list }) => ({
  path: ref.path,
  summary: `${ref.title} of series, by name`,
  async load(request) {
    const { data, total } = await list(request)
    const entries = data.map(
      ({ name, seriesCount, updatedAt }): NavigationEntry => ({
        path: '/series',
        query: { [parameter]: name },
        title: name,
        kind: 'navigation',
        updatedAt: new Date(updatedAt),
        count: seriesCount,
        description: countOf(seriesCount, 'series'),
      }),
    )
    return navigationFeed({ ...ref, entries, paging: pagingOf(request, total) })
  },
}))
