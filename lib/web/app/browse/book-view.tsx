// Book page: metadata, reading progress, actions, file, series and lists.
import { api, body, type Schemas } from '../api/client.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { bookProgress, bookState, isReadable } from '../lists/book-state.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { setWantToRead } from '../organize/actions.ts'
import { href } from '../routing/router.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Icon } from '../ui/icon.tsx'
import { BookFacts } from './book-facts.tsx'
import { BookMenu } from './book-menu.tsx'
import { AdjacentBooks, ReadHistory } from './book-places.tsx'
import { BookProblem } from './book-problem.tsx'
import { DetailLayout } from './detail-layout.tsx'
import { Labels, Summary } from './metadata.tsx'

type Book = Schemas['BookFull']

export function View({ params: { id } }: ViewProps) {
  return <BookPage key={id} id={id!} />
}

function BookPage({ id }: { id: string }) {
  const book = useResource(`books/${id}`, signal =>
    body(api.GET('/api/v1/books/{id}/full', { params: { path: { id } }, signal })),
  )
  useReloadOnEvents(event => event.bookId === id && event.type !== 'cover_updated', book.reload)
  const { data, error } = book
  if (error && !data) return <ErrorState error={error} onRetry={book.reload} />
  if (!data) return <div class="view-loading" aria-busy />
  return (
    <div>
      <DetailLayout
        owner="books"
        id={id}
        title={data.title}
        above={
          <a href={href(`series/${data.seriesId}`)} dir="auto">
            {data.seriesName}
          </a>
        }
        subtitle={<BookSubtitle book={data} />}
        actions={<BookActions book={book} data={data} />}
      >
        <BookProblem book={data} onChange={book.reload} />
        <Progress book={data} />
        <Summary text={data.summary} />
        <Labels name="genre" labels={data.genres} />
        <Labels name="tag" labels={data.tags} />
        <BookFacts book={data} />
        <ReadHistory book={data} />
      </DetailLayout>
      <AdjacentBooks book={data} />
    </div>
  )
}

function BookSubtitle({ book }: { book: Book }) {
  const { numberText, volume, pageCount, metadata } = book
  const parts = [
    numberText && t('lists.number', { number: numberText }),
    volume !== null && t('details.volume', { volume: String(volume) }),
    metadata.year !== null && String(metadata.year),
    pageCount > 0 && t('count.pages', { count: pageCount }),
  ]
  return parts.filter(Boolean).map((part, key) => <span key={key}>{part}</span>)
}

function BookActions({ book, data }: { book: Resource<Book>; data: Book }) {
  const state = bookState(data)
  const readPath = `books/${data.id}/read`
  const toggleWanted = async () => {
    await setWantToRead({ bookIds: [data.id] }, !data.wantToRead)
    book.replace({ ...data, wantToRead: !data.wantToRead })
  }
  return (
    <>
      {isReadable(data) && can('PagesRead') && (
        <a class="button primary browse-read" href={href(readPath)}>
          <Icon name="play" />
          {state === 'reading'
            ? t('action.continueHere')
            : state === 'read'
              ? t('action.readAgain')
              : t('action.read')}
        </a>
      )}
      {state === 'reading' && (
        <a class="button" href={href(`${readPath}?page=1`)}>
          {t('action.restart')}
        </a>
      )}
      <Button
        icon="bookmark"
        class={data.wantToRead ? 'active' : ''}
        aria-pressed={data.wantToRead}
        onClick={toggleWanted}
      >
        {t('action.wantToRead')}
      </Button>
      <BookMenu book={data} onChange={book.reload} />
    </>
  )
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
  return (
    <div class="browse-progress">
      <p>{text}</p>
      {!readProgress.completed && (
        <span class="progress-bar" aria-hidden>
          <span style={{ width: `${percent}%` }} />
        </span>
      )}
    </div>
  )
}
