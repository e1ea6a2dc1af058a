// Books of a series as cards or lines, with their order, state and selection.
import { useMemo } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { BookCard } from '../lists/card.tsx'
import { cardShape, lineShape } from '../lists/grid-layout.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { listMode, ModeSwitch } from '../lists/mode-switch.tsx'
import { usePagedList } from '../lists/paged-list.ts'
import { createSelection, SelectionBar } from '../lists/selection-bar.tsx'
import { VirtualGrid } from '../lists/virtual-grid.tsx'
import { address, setQuery } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { BareSelect } from '../ui/field.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'

const sortTexts = {
  'number,asc': 'books.sort.number,asc',
  'number,desc': 'books.sort.number,desc',
  'title,asc': 'books.sort.title,asc',
  'date_added,desc': 'books.sort.date_added,desc',
  'release_date,asc': 'books.sort.release_date,asc',
  'last_read,desc': 'books.sort.last_read,desc',
  'file_size,desc': 'books.sort.file_size,desc',
} as const satisfies Record<string, TextKey>
const stateTexts = {
  all: 'books.show.all',
  unread: 'readStatus.unread',
  in_progress: 'readStatus.in_progress',
  read: 'readStatus.read',
  unreadable: 'books.show.unreadable',
  missing: 'books.show.missing',
} as const satisfies Record<string, TextKey>
type State = keyof typeof stateTexts

/** The value in the address, else the first one. */
function chosen<V extends string>(name: string, texts: Record<V, TextKey>): V {
  const values = Object.keys(texts) as V[]
  return values.find(value => value === address.value.query.get(name)) ?? values[0]!
}

export function SeriesBooks({ series }: { series: Schemas['SeriesFull'] }) {
  const sort = chosen('sort', sortTexts)
  const state = chosen('show', stateTexts)
  const list = usePagedList(`books of ${series.id} ${sort} ${state}`, (page, signal) => {
    const params = { query: { ...page, sort } }
    const includeDeleted = state === 'missing' || state === 'all'
    const filter = { condition: conditionOf(series.id, state), includeDeleted }
    return body(api.POST('/api/v1/books/list', { params, body: filter, signal }))
  })
  useReloadOnEvents(
    event => event.seriesId === series.id && event.type !== 'cover_updated',
    () => list.reload(),
  )
  const selection = useMemo(createSelection, [series.id])
  const isLine = listMode.value === 'lines'
  const total = list.total.value
  return (
    <section aria-label={t('label.books')}>
      <div class="row browse-toolbar">
        <h2 class="browse-count">
          {total === null ? t('label.books') : t('count.books', { count: total })}
        </h2>
        <Choice name="show" value={state} texts={stateTexts} label={t('details.show')} />
        <Choice name="sort" value={sort} texts={sortTexts} label={t('sort.label')} />
        <ModeSwitch />
      </div>
      {list.error.value && total === null ? (
        <ErrorState error={list.error.value} onRetry={() => list.reload()} />
      ) : total === 0 ? (
        <EmptyState icon="book" title={t('details.noBooks')} />
      ) : (
        <VirtualGrid<Schemas['Book']>
          list={list}
          label={t('label.books')}
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

function conditionOf(seriesId: string, state: State): Schemas['BookCondition'] {
  const ofSeries = { seriesId: { operator: 'is' as const, value: seriesId } }
  if (state === 'all' || state === 'missing') return ofSeries
  if (state === 'unreadable') return { allOf: [ofSeries, { hasError: { operator: 'isTrue' } }] }
  return { allOf: [ofSeries, { readStatus: { operator: 'is', value: state } }] }
}

type ChoiceProps = { name: string; value: string; texts: Record<string, TextKey>; label: string }

function Choice({ name, value, texts, label }: ChoiceProps) {
  const options = Object.entries(texts).map(([value, text]) => ({ value, text: t(text) }))
  return (
    <BareSelect
      class="control browse-choice"
      aria-label={label}
      value={value}
      options={options}
      onChange={next => setQuery({ [name]: next === options[0]!.value ? null : next })}
    />
  )
}
