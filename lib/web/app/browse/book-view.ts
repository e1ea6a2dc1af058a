// Page of a book: metadata, reading progress, actions, its file, and where it belongs.
import { api, body, type Schemas } from '../api/client.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { bookProgress, bookState, isReadable } from '../lists/book-state.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { setWantToRead } from '../organise/actions.ts'
import { href } from '../routing/router.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { BookFacts } from './book-facts.ts'
import { BookMenu } from './book-menu.ts'
import { AdjacentBooks, ReadHistory } from './book-places.ts'
import { BookProblem } from './book-problem.ts'
import { DetailLayout } from './detail-layout.ts'
import { Labels, Summary } from './metadata.ts'

type Book = Schemas['BookFull']

export function View({ params: { id } }: ViewProps) {
  return h(BookPage, { id: id!, key: id })
}

function BookPage({ id }: { id: string }) {
  const book = useResource(`books/${id}`, signal =>
    body(api.GET('/api/v1/books/{id}/full', { params: { path: { id } }, signal })),
  )
  useReloadOnEvents(event => event.bookId === id && event.type !== 'cover_updated', book.reload)
  const { data, error } = book
  if (error && !data) return h(ErrorState, { error, onRetry: book.reload })
  if (!data) return h('div', { class: 'view-loading', 'aria-busy': true })
  return h(
    'div',
    null,
    h(
      DetailLayout,
      {
        owner: 'books',
        id,
        title: data.title,
        above: h('a', { href: href(`series/${data.seriesId}`), dir: 'auto' }, data.seriesName),
        subtitle: h(BookSubtitle, { book: data }),
        actions: h(BookActions, { book, data }),
      },
      h(BookProblem, { book: data, onChange: book.reload }),
      h(Progress, { book: data }),
      h(Summary, { text: data.summary }),
      h(Labels, { name: 'genre', labels: data.genres }),
      h(Labels, { name: 'tag', labels: data.tags }),
      h(BookFacts, { book: data }),
      h(ReadHistory, { book: data }),
    ),
    h(AdjacentBooks, { book: data }),
  )
}

function BookSubtitle({ book }: { book: Book }) {
  const { numberText, volume, pageCount, metadata } = book
  const parts = [
    numberText && t('lists.number', { number: numberText }),
    volume !== null && t('details.volume', { volume: String(volume) }),
    metadata.year !== null && String(metadata.year),
    pageCount > 0 && t('lists.pages', { count: pageCount }),
  ]
  return parts.filter(Boolean).map((part, key) => h('span', { key }, part))
}

function BookActions({ book, data }: { book: Resource<Book>; data: Book }) {
  const state = bookState(data)
  const readPath = `books/${data.id}/read`
  const toggleWanted = async () => {
    await setWantToRead({ bookIds: [data.id] }, !data.wantToRead)
    book.replace({ ...data, wantToRead: !data.wantToRead })
  }
  return [
    isReadable(data) &&
      can('PagesRead') &&
      h(
        'a',
        { key: 'read', class: 'button primary browse-read', href: href(readPath) },
        h(Icon, { name: 'play' }),
        state === 'reading'
          ? t('action.continueHere')
          : state === 'read'
            ? t('action.readAgain')
            : t('action.read'),
      ),
    state === 'reading' &&
      h(
        'a',
        { key: 'restart', class: 'button', href: href(`${readPath}?page=1`) },
        t('action.restart'),
      ),
    h(
      Button,
      {
        key: 'want',
        icon: 'bookmark',
        class: data.wantToRead ? 'active' : '',
        'aria-pressed': data.wantToRead,
        onClick: toggleWanted,
      },
      t('action.wantToRead'),
    ),
    h(BookMenu, { key: 'menu', book: data, onChange: book.reload }),
  ]
}

function Progress({ book }: { book: Book }) {
  const { readProgress, pageCount } = book
  if (!readProgress) return null
  const percent = Math.round(bookProgress(book) * 100)
  const time = formatRelative(readProgress.completedAt ?? readProgress.updatedAt)
  const text = readProgress.completed
    ? t('details.finished', { time })
    : pageCount > 0
      ? t('details.progressPage', { page: readProgress.currentPage, count: pageCount, time })
      : t('details.progressPercent', { percent, time })
  return h(
    'div',
    { class: 'browse-progress' },
    h('p', null, text),
    !readProgress.completed &&
      h(
        'span',
        { class: 'progress-bar', 'aria-hidden': true },
        h('span', { style: { width: `${percent}%` } }),
      ),
  )
}
