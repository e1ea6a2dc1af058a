// Publishers, genres and tags; each leads to the series that have it.
import { labelShelves as pageOfLabels } from '../../catalog/label/label-browse.ts'
import { listPublishers } from '../../catalog/label/publisher.ts'
import { type Entry, navigation, type Ref } from '../feed.ts'
import { genres, publishers, tags } from './series-list.ts'
import { type Asked, offsetOf, pagingOf, type Shelf } from './shelf.ts'

type Valued = { name: string; seriesCount: number }
type Values = {
  ref: Ref
  /** The parameter of `/series` that takes them. */
  parameter: string
  list: (asked: Asked) => Promise<{ data: Valued[]; total: number }>
}

const label =
  (kind: 'genre' | 'tag'): Values['list'] =>
  asked =>
    pageOfLabels(asked.sql, asked.viewer, {
      ...{ kind, offset: offsetOf(asked), pageSize: asked.pageSize },
    })

const kinds: Values[] = [
  {
    ref: publishers,
    parameter: 'publisher',
    list: asked =>
      listPublishers(asked.sql, asked.viewer, {
        offset: offsetOf(asked),
        pageSize: asked.pageSize,
      }),
  },
  { ref: genres, parameter: 'genre', list: label('genre') },
  { ref: tags, parameter: 'tag', list: label('tag') },
]

export const labelShelves: Shelf[] = kinds.map(({ ref, parameter, list }) => ({
  path: ref.path,
  summary: `${ref.title} of series, by name`,
  async find(asked) {
    const { data, total } = await list(asked)
    const entries = data.map(
      ({ name, seriesCount }): Entry => ({
        path: '/series',
        query: { [parameter]: name },
        title: name,
        kind: 'navigation',
        updated: null,
        count: seriesCount,
      }),
    )
    return navigation({ ...ref, entries, paging: pagingOf(asked, total) })
  },
}))
