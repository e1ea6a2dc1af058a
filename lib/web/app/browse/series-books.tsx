// Books of a series as cards or lines, with their order, state and selection.
import { useMemo } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { BookCard } from '../lists/book-card.tsx'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { listMode } from '../lists/list-mode.ts'
import { ModeSwitch } from '../lists/mode-switch.tsx'
import { usePagedList } from '../lists/paged-list.ts'
import { createSelection } from '../lists/selection.ts'
import { SelectionBar } from '../lists/selection-bar.tsx'
import { cardShape, lineShape } from '../lists/shapes.ts'
import { VirtualGrid } from '../lists/virtual-grid.tsx'
import { address, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'

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
  return (
    <section aria-label={t('details.books')}>
      <div class="browse-toolbar">
        <h2 class="browse-count">
          {total === null ? t('details.books') : t('lists.books', { count: total })}
        </h2>
        <Choice name="show" value={state} values={states} label={t('details.show')} />
        <Choice name="sort" value={sort} values={sorts} label={t('sort.label')} />
        <ModeSwitch />
      </div>
      {list.error.value && total === null ? (
        <ErrorState error={list.error.value} onRetry={() => list.reload()} />
      ) : total === 0 ? (
        <EmptyState icon="book" title={t('details.noBooks')} />
      ) : (
        <VirtualGrid<Schemas['Book']>
          list={list}
          label={t('details.books')}
          shape={isLine ? lineShape : cardShape}
          dependency={`${isLine} ${series.id}`}
          renderItem={(book, tabIndex) => (
            <BookCard book={book} tabIndex={tabIndex} selection={selection} isLine={isLine} />
          )}
        />
      )}
      <SelectionBar kind="books" selection={selection} list={list} onDone={() => list.reload()} />
    </section>
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
  return (
    <select
      class="control browse-choice"
      aria-label={label}
      value={value}
      onChange={event => {
        const next = event.currentTarget.value
        setQuery({ [name]: next === values[0] ? null : next })
      }}
    >
      {values.map(option => (
        <option key={option} value={option}>
          {t(`books.${name}.${option}` as 'books.show.all')}
        </option>
      ))}
    </select>
  )
}
