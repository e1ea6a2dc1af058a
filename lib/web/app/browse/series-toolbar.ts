// Toolbar of a series list: count, letters, filters, sort order, cards or lines.

import { ModeSwitch } from '../lists/mode-switch.ts'
import { setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.ts'
import { openDialog } from '../ui/dialog-host.ts'
import { h } from '../ui/h.ts'
import { AlphabetMenu, type Letter } from './alphabet.ts'
import { countFilters, type Filters } from './filters/filter-fields.ts'
import {
  partsOfSort,
  type SeriesSort,
  type SortField,
  sortFields,
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
    openDialog(async () => (await import('./filters/filter-dialog.ts')).FilterDialog, {
      filters,
      sort,
      libraryId,
    })
  return h(
    'div',
    { class: 'browse-toolbar' },
    h(
      'span',
      { class: 'browse-count', role: 'status' },
      total === null ? '' : t('browse.seriesCount', { count: total }),
    ),
    h(AlphabetMenu, { alphabet, onJump }),
    h(
      Button,
      { icon: 'filter', onClick: openFilterDialog, class: count > 0 ? 'active' : '' },
      t('filter.title'),
      count > 0 && h('span', { class: 'badge accent' }, String(count)),
    ),
    h(SortChoice, { sort }),
    h(ModeSwitch, null),
  )
}

function SortChoice({ sort }: { sort: SeriesSort }) {
  const [field, order] = partsOfSort(sort)
  const store = (next: string) => setQuery({ sort: next === 'title,asc' ? null : next })
  return h(
    'div',
    { class: 'browse-sort' },
    h(
      'select',
      {
        class: 'control',
        value: field,
        'aria-label': t('sort.label'),
        onChange: event => {
          const next = event.currentTarget.value as SortField
          store(`${next},${usualOrder(next)}`)
        },
      },
      sortFields.map(name => h('option', { value: name, key: name }, t(`sort.${name}`))),
    ),
    h(IconButton, {
      class: order === 'desc' ? 'browse-descending' : '',
      icon: 'sort',
      label: t(order === 'asc' ? 'sort.ascending' : 'sort.descending'),
      onClick: () => store(`${field},${order === 'asc' ? 'desc' : 'asc'}`),
    }),
  )
}
