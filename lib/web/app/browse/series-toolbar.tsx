// Toolbar of a series list: count, letters, filters, sort order, cards or lines.

import { ModeSwitch } from '../lists/mode-switch.tsx'
import { setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { openDialog } from '../ui/dialog-host.tsx'
import { BareSelect } from '../ui/field.tsx'
import { AlphabetMenu, type Letter } from './alphabet.tsx'
import { countFilters, type Filters } from './filters/filter-fields.ts'
import {
  partsOfSort,
  type SeriesSort,
  type SortField,
  sortFields,
  sortTexts,
  usualOrder,
} from './filters/series-address.ts'

type ToolbarProps = {
  total: number | null
  filters: Filters
  sort: SeriesSort
  libraryId: string | null
  alphabet: readonly Letter[]
  onJump: (index: number) => void
}

export function SeriesToolbar({ total, filters, sort, libraryId, alphabet, onJump }: ToolbarProps) {
  const count = countFilters(filters)
  const openFilterDialog = () =>
    openDialog(async () => (await import('./filters/filter-dialog.tsx')).FilterDialog, {
      filters,
      sort,
      libraryId,
    })
  return (
    <div class="row browse-toolbar">
      <span class="browse-count" role="status">
        {total === null ? '' : t('count.series', { count: total })}
      </span>
      <AlphabetMenu alphabet={alphabet} onJump={onJump} />
      <Button icon="filter" onClick={openFilterDialog} class={count > 0 ? 'active' : ''}>
        {t('filter.title')}
        {count > 0 && <span class="badge accent">{String(count)}</span>}
      </Button>
      <SortChoice sort={sort} />
      <ModeSwitch />
    </div>
  )
}

function SortChoice({ sort }: { sort: SeriesSort }) {
  const [field, order] = partsOfSort(sort)
  const store = (next: string) => setQuery({ sort: next === 'title,asc' ? null : next })
  return (
    <div class="browse-sort">
      <BareSelect<SortField>
        class="control"
        aria-label={t('sort.label')}
        value={field}
        options={sortFields.map(value => ({ value, text: t(sortTexts[value]) }))}
        onChange={next => store(`${next},${usualOrder(next)}`)}
      />
      <IconButton
        class={order === 'desc' ? 'browse-descending' : ''}
        isFramed
        icon="sort"
        label={t(order === 'asc' ? 'sort.ascending' : 'sort.descending')}
        onClick={() => store(`${field},${order === 'asc' ? 'desc' : 'asc'}`)}
      />
    </div>
  )
}
