// Books of a series as cards or lines, with their order, state and selection.
import { useMemo } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { BookCard } from '../lists/book-card.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { listMode } from '../lists/list-mode.ts'
import { ModeSwitch } from '../lists/mode-switch.ts'
import { usePagedList } from '../lists/paged-list.ts'
import { createSelection } from '../lists/selection.ts'
import { SelectionBar } from '../lists/selection-bar.ts'
import { cardShape, lineShape } from '../lists/shapes.ts'
import { VirtualGrid } from '../lists/virtual-grid.ts'
import { address, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'

const sorts = [
  'number,asc',
  'number,desc',
  'title,asc',
  'date_added,desc',
  'release_date,asc',
  'last_read,desc',
  'file_size,desc',
] as const
const states = ['all', 'unread', 'in_progress', 'read', 'unreadable', 'missing'] as const

/** A value of the address that is one of those, else the first of them. */
const chosen = <V extends string>(name: string, values: readonly V[]): V =>
  values.find(value => value === address.value.query.get(name)) ?? values[0]!

export function SeriesBooks({ series }: { series: Schemas['SeriesFull'] }) {
  const sort = chosen('sort', sorts)
  const state = chosen('show', states)
  const list = usePagedList(`books of ${series.id} ${sort} ${state}`, (page, signal) =>
    body(
      api.POST('/api/v1/books/list', {
        params: { query: { ...page, sort } },
        body: {
          condition: conditionOf(series.id, state),
          includeDeleted: state === 'missing' || state === 'all',
        },
        signal,
      }),
    ),
  )
  useReloadOnEvents(
    event => event.seriesId === series.id && event.type !== 'cover_updated',
    () => list.reload(),
  )
  const selection = useMemo(createSelection, [series.id])
  const isLine = listMode.value === 'lines'
  const total = list.total.value
  return h(
    'section',
    { 'aria-label': t('details.books') },
    h(
      'div',
      { class: 'browse-toolbar' },
      h(
        'h2',
        { class: 'browse-count' },
        total === null ? t('details.books') : t('lists.books', { count: total }),
      ),
      h(Choice, { name: 'show', value: state, values: states, label: t('details.show') }),
      h(Choice, { name: 'sort', value: sort, values: sorts, label: t('sort.label') }),
      h(ModeSwitch, null),
    ),
    list.error.value && total === null
      ? h(ErrorState, { error: list.error.value, onRetry: () => list.reload() })
      : total === 0
        ? h(EmptyState, { icon: 'book', title: t('details.noBooks') })
        : h(VirtualGrid<Schemas['Book']>, {
            list,
            label: t('details.books'),
            shape: isLine ? lineShape : cardShape,
            dependency: `${isLine} ${series.id}`,
            renderItem: (book, tabIndex) => h(BookCard, { book, tabIndex, selection, isLine }),
          }),
    h(SelectionBar, { kind: 'books', selection, list, onDone: () => list.reload() }),
  )
}

function conditionOf(seriesId: string, state: (typeof states)[number]): Schemas['BookCondition'] {
  const ofSeries = { seriesId: { operator: 'is' as const, value: seriesId } }
  if (state === 'all' || state === 'missing') return ofSeries
  if (state === 'unreadable') return { allOf: [ofSeries, { hasError: { operator: 'isTrue' } }] }
  return { allOf: [ofSeries, { readStatus: { operator: 'is', value: state } }] }
}

type ChoiceProps = { name: string; value: string; values: readonly string[]; label: string }

function Choice({ name, value, values, label }: ChoiceProps) {
  return h(
    'select',
    {
      class: 'control browse-choice',
      'aria-label': label,
      value,
      onChange: event => {
        const next = event.currentTarget.value
        setQuery({ [name]: next === values[0] ? null : next })
      },
    },
    values.map(option =>
      h('option', { value: option, key: option }, t(`books.${name}.${option}` as 'books.show.all')),
    ),
  )
}
