// Shelves for the account's filter presets: their list, and the books or series of each.
import { uuid } from '../../../base/schema.ts'
import { parseBookFilter, parseSeriesFilter } from '../../../list/condition.ts'
import { listBooks } from '../../../list/list-books.ts'
import { listSeries } from '../../../list/list-series.ts'
import { parseBookSort, parseSeriesSort } from '../../../list/sort.ts'
import {
  type FilterPreset,
  listPresets,
  presetById,
} from '../../../organize/personal/filter-preset.ts'
import { publicationsByIds } from '../../publication/publication.ts'
import { acquisitionFeed, type FeedRef, type NavigationEntry, navigationFeed } from '../feed.ts'
import { seriesEntries } from './entry.ts'
import { offsetOf, pagingOf, type Shelf, type ShelfRequest } from './shelf.ts'

export const presetsRef: FeedRef = { path: '/presets', title: 'Saved filters', kind: 'navigation' }

const refOf = ({ id, name, target }: FilterPreset): FeedRef => ({
  path: `/presets/${id}`,
  title: name,
  kind: target === 'books' ? 'acquisition' : 'navigation',
})

const list: Shelf = {
  path: presetsRef.path,
  summary: 'Filter presets of the account, by name',
  async load(request) {
    const presets = await listPresets(request.sql, request.viewer)
    const offset = offsetOf(request)
    const entries = presets.slice(offset, offset + request.pageSize).map(
      (preset): NavigationEntry => ({
        ...refOf(preset),
        id: preset.id,
        updatedAt: new Date(preset.updatedAt),
        description: preset.target === 'books' ? 'Books.' : 'Series.',
      }),
    )
    return navigationFeed({ ...presetsRef, entries, paging: pagingOf(request, presets.length) })
  },
}

const onePreset: Shelf = {
  path: '/presets/{id}',
  summary: 'The books or series of a filter preset',
  params: { id: uuid({ description: 'Preset id.' }) },
  async load(request) {
    const { sql, viewer } = request
    const preset = await presetById(sql, viewer, request.params.id!)
    const { ids, total } = await findItems(request, preset)
    const feed = {
      ...{ ...refOf(preset), id: preset.id, up: presetsRef },
      updatedAt: new Date(preset.updatedAt),
      paging: pagingOf(request, total),
    }
    return preset.target === 'books'
      ? acquisitionFeed({ ...feed, books: await publicationsByIds(sql, viewer, ids) })
      : navigationFeed({ ...feed, entries: await seriesEntries(request, ids) })
  },
}

function findItems(request: ShelfRequest, preset: FilterPreset) {
  const { viewer, page, pageSize } = request
  const { target, condition, query, sort } = preset
  const common = { text: query, libraryId: preset.libraryId ?? undefined, page, pageSize }
  if (target === 'books')
    return listBooks(request, viewer, {
      ...{ ...parseBookSort(sort ?? undefined), ...common },
      filter: parseBookFilter(condition),
    })
  return listSeries(request, viewer, {
    ...{ ...parseSeriesSort(sort ?? undefined), ...common, onlyWithVisibleBooks: true },
    // Accounts without this permission cannot save conditions on sharing tags.
    filter: parseSeriesFilter(condition, { isAdmin: true }),
  })
}

export const presetShelves = [list, onePreset]
