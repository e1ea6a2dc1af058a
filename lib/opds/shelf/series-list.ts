// Shelves of series: all, those that came or changed last, those of a library, and those that words,
// a publisher, a genre or a tag choose.

import { labelKey } from '../../catalog/label/label.ts'
import { libraryName } from '../../catalog/library/library-browse.ts'
import { parseSeriesFilter } from '../../catalog/list/filter.ts'
import { listSeries, type SeriesWanted } from '../../catalog/list/list-series.ts'
import { seriesByIds } from '../../catalog/series/series-record.ts'
import { Id, maybe, text, uuid } from '../../schema.ts'
import { catalogue, type Entry, navigation, type Paging, type Ref } from '../feed.ts'
import type { Version } from '../tree.ts'
import { libraries, libraryRef, seriesEntries } from './entry.ts'
import { type Listing, mostLatest } from './listing.ts'
import { type Asked, pagingOf, type Shelf } from './shelf.ts'
import { mostWords, searchRef, wordsOf } from './words.ts'

const newest = (sort: 'created' | 'updated'): Listing['find'] => {
  const order = { sort, direction: 'desc', filter: null, withBooks: true } as const
  return async ({ sql, viewer, page, pageSize, ...asked }) => {
    const left = Math.max(mostLatest - (page - 1) * pageSize, 0)
    const window = { page: left > 0 ? page : 1, pageSize }
    const { ids, total } = await listSeries(sql, viewer, { ...asked, ...order, ...window })
    return { ids: ids.slice(0, left), total: Math.min(total, mostLatest) }
  }
}

export const newSeries: Listing = {
  kind: 'navigation',
  path: '/series/recent',
  title: 'New series',
  summary: `Series that came last, ${mostLatest} at most`,
  find: newest('created'),
}

export const updatedSeries: Listing = {
  kind: 'navigation',
  path: '/series/updated',
  title: 'Updated series',
  summary: `Series that changed last, ${mostLatest} at most`,
  find: newest('updated'),
}

export const allSeries: Ref = { path: '/series', title: 'All series', kind: 'navigation' }
/** Where the values of these are listed. */
export const publishers: Ref = { path: '/publishers', title: 'Publishers', kind: 'navigation' }
export const genres: Ref = { path: '/genres', title: 'Genres', kind: 'navigation' }
export const tags: Ref = { path: '/tags', title: 'Tags', kind: 'navigation' }

const name = (what: string) => maybe(text(mostWords, { description: `Only of this ${what}.` }))

export const seriesShelf: Shelf = {
  path: '/series',
  summary: 'Series by title, those that words find by relevance',
  query: {
    search: maybe(text(mostWords, { description: 'Words of titles, authors, genres or tags.' })),
    publisher: name('publisher'),
    genre: name('genre'),
    tag: name('tag'),
    libraryId: maybe(uuid({ description: 'Only of this library.' })),
  },
  async find(asked) {
    const { publisher, genre, tag, libraryId } = asked.query
    const search = wordsOf(asked.query.search)
    const conditions = { publisher, genre: genre && labelKey(genre), tag: tag && labelKey(tag) }
    const [library, { entries, paging }] = await Promise.all([
      libraryId ? libraryName(asked.sql, asked.viewer, libraryId) : null,
      listed(asked, { filter: havingAll(conditions), text: search, libraryId }),
    ])
    return navigation({
      ...allSeries,
      query: { search, publisher, genre, tag, libraryId },
      title: titled({ search, publisher, genre, tag, library: library?.name }),
      up: library ? libraryRef(library) : upOf(asked.query),
      paging,
      entries,
      related: search === undefined ? [] : [searchRef(asked.version, search)],
    })
  },
}

/** The series of a library: itself in OPDS 1.2, beside its home in OPDS 2.0. */
export const libraryShelves: Shelf[] = [
  browse('/libraries/{id}', 1),
  browse('/libraries/{id}/browse', 2),
]

function browse(path: string, only: Version): Shelf {
  return {
    path,
    summary: 'The series of a library',
    only,
    params: Id.properties,
    async find(asked) {
      const id = asked.params.id!
      const [library, { entries, paging }] = await Promise.all([
        libraryName(asked.sql, asked.viewer, id),
        listed(asked, { filter: null, libraryId: id }),
      ])
      return navigation({
        ...{ path: path.replace('{id}', id), title: library.name, updated: library.updatedAt },
        ...(only === 1 ? { id, up: libraries } : { up: libraryRef(library) }),
        ...{ paging, entries },
      })
    },
  }
}

async function listed(
  asked: Asked,
  wanted: SeriesWanted,
): Promise<{ entries: Entry[]; paging: Paging }> {
  const { sql, viewer, page, pageSize } = asked
  const { ids, total } = await listSeries(sql, viewer, {
    ...{ ...wanted, page, pageSize },
    withBooks: true,
  })
  const series = await seriesByIds(sql, viewer, ids)
  return { entries: seriesEntries(series), paging: pagingOf(asked, total) }
}

/** Null when nothing is asked for. Throws Invalid for what no name can hold. */
function havingAll(conditions: Record<string, string | undefined>) {
  const leaves = Object.entries(conditions).flatMap(([field, value]) =>
    value === undefined ? [] : [{ [field]: { operator: 'is', value } }],
  )
  return leaves.length === 0 ? null : parseSeriesFilter({ allOf: leaves })
}

function titled({ search, library, ...labels }: Record<string, string | undefined>): string {
  if (search !== undefined) return `Series matching “${search}”`
  const said = Object.entries(labels).filter(([, value]) => value !== undefined)
  const what = said.map(([name, value]) => `${capital(name)}: ${value}`).join(', ')
  return (what || allSeries.title) + (library === undefined ? '' : ` in ${library}`)
}

const capital = (word: string) => word[0]!.toUpperCase() + word.slice(1)

function upOf({ publisher, genre, tag }: Asked['query']): Ref {
  if (publisher !== undefined) return publishers
  if (genre !== undefined) return genres
  return tag === undefined ? catalogue : tags
}
