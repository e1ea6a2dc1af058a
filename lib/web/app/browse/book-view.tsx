// Book page: problems of the file, metadata, reading progress, actions, history, adjacent books.
import { api, body, type Schemas } from '../api/client.ts'
import { type Resource, useGet, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { BookCard, bookFormat, bookProgress, bookState, isReadable } from '../lists/card.tsx'
import { useReloadOnEvents } from '../lists/list-events.ts'
import type { ViewProps } from '../routing/load-view.ts'
import { formatBytes, formatDate, formatRelative, t, textOr } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { ErrorState, Loading } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { BookMenu, DetailLayout, WantToReadButton } from './detail-layout.tsx'
import { languageName } from './filters/filter-texts.ts'
import {
  AuthorFacts,
  ageText,
  Fact,
  filterLink,
  groupingLinks,
  Labels,
  NoSummary,
  Summary,
  WebLinks,
} from './metadata.tsx'

type Book = Schemas['BookFull']

export function View({ params: { id = '' } }: ViewProps) {
  const book = useGet('/api/v1/books/{id}/full', { path: { id } })
  useReloadOnEvents(event => event.bookId === id && event.type !== 'cover_updated', book.reload)
  const { data, error } = book
  if (error && !data) return <ErrorState error={error} onRetry={book.reload} />
  if (!data) return <Loading />
  return (
    <div>
      <DetailLayout
        owner="books"
        id={id}
        title={data.title}
        above={{ path: `series/${data.seriesId}`, name: data.seriesName }}
        subtitle={subtitleOf(data)}
        actions={<BookActions book={book} data={data} />}
      >
        <BookProblem book={data} onChange={book.reload} />
        <Progress book={data} />
        <Summary text={data.summary} />
        {!data.summary && !data.deleted && (
          <NoSummary owner="books" id={id} title={data.title} onSaved={book.reload} />
        )}
        <Labels name="genre" labels={data.genres} />
        <Labels name="tag" labels={data.tags} />
        <BookFacts book={data} />
        <ReadHistory book={data} />
      </DetailLayout>
      <AdjacentBooks book={data} />
    </div>
  )
}

function subtitleOf({ numberText, volume, pageCount, metadata }: Book) {
  return [
    numberText && t('lists.number', { number: numberText }),
    volume !== null && t('details.volume', { volume: String(volume) }),
    metadata.year !== null && String(metadata.year),
    pageCount > 0 && t('count.pages', { count: pageCount }),
  ]
}

function BookActions({ book, data }: { book: Resource<Book>; data: Book }) {
  const state = bookState(data)
  const readPath = `books/${data.id}/read`
  return (
    <>
      {isReadable(data) && can('PagesRead') && (
        <ButtonLink
          path={readPath}
          icon="play"
          class="primary browse-read"
          text={
            state === 'reading'
              ? t('action.continueHere')
              : state === 'read'
                ? t('action.readAgain')
                : t('action.read')
          }
        />
      )}
      {state === 'reading' && <ButtonLink path={`${readPath}?page=1`} text={t('action.restart')} />}
      <WantToReadButton selection={{ bookIds: [data.id] }} item={data} onChange={book.replace} />
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

type BookProblemProps = { book: Schemas['BookFull']; onChange: () => void }

/** Renders nothing for an intact file. */
function BookProblem({ book, onChange }: BookProblemProps) {
  const { id, deleted, errorCode, analysisError } = book
  const retry = async () => {
    await api.POST('/api/v1/books/{id}/retry', { params: { path: { id } }, body: {} })
    showNotice(t('details.retryStarted'))
    onChange()
  }
  if (!deleted && errorCode === null) return null
  const isMaintainer = can('BooksWrite')
  return (
    <div class="row card browse-notice danger" role="status">
      <Icon name="error" />
      <div>
        <strong>{t(deleted ? 'lists.missing' : 'lists.unreadable')}</strong>
        <p>
          {deleted
            ? t('details.missingText')
            : textOr(`bookError.${errorCode}`, analysisError ?? '')}
        </p>
        {!deleted && isMaintainer && (
          <p class="secondary-text">
            <code>{errorCode}</code>
            {analysisError && ` – ${analysisError}`}
          </p>
        )}
      </div>
      {!deleted && isMaintainer && (
        <Button icon="refresh" text={t('action.retry')} onClick={retry} />
      )}
    </div>
  )
}

type BookProps = { book: Schemas['BookFull'] }

/** The previous and the next book of the series. */
function AdjacentBooks({ book: { id } }: BookProps) {
  const { data } = useGet('/api/v1/books/{id}/adjacent', { path: { id } })
  if (!data?.prev && !data?.next) return null
  const place = (title: string, book: Schemas['Book'] | null) =>
    book && (
      <div class="browse-adjacent">
        <h2>{title}</h2>
        <BookCard book={book} isLine />
      </div>
    )
  return (
    <nav class="browse-adjacents" aria-label={t('details.adjacent')}>
      {place(t('reader.previousBook'), data.prev)}
      {place(t('reader.nextBook'), data.next)}
    </nav>
  )
}

/** Dates on which the book was finished. */
function ReadHistory({ book: { id, readCount, readProgress } }: BookProps) {
  const isNeeded = readCount > 0 || readProgress !== null
  const { data } = useResource(
    isNeeded ? `books/${id}/read-history ${readProgress?.updatedAt}` : null,
    signal =>
      body(api.GET('/api/v1/books/{id}/read-history', { params: { path: { id } }, signal })),
  )
  if (!data || data.entries.length === 0) return null
  return (
    <details class="browse-history">
      <summary>{t('details.history', { count: data.readCount })}</summary>
      <ul>
        {data.entries.map(({ startedAt, completedAt }) => (
          <li key={completedAt}>
            {t('details.historyEntry', {
              from: formatDate(startedAt),
              to: formatDate(completedAt),
            })}
          </li>
        ))}
      </ul>
    </details>
  )
}

function BookFacts({ book }: { book: Book }) {
  const { metadata } = book
  const names = (values: readonly string[]) => values.join(', ')
  return (
    <dl class="browse-facts">
      <AuthorFacts authors={metadata.authors} />
      <Fact label={t('field.subtitle')}>{metadata.subtitle}</Fact>
      <Fact label={t('field.originalTitle')}>{metadata.originalTitle}</Fact>
      <Fact label={t('field.publisher')}>
        {metadata.publisher && filterLink('publisher', metadata.publisher)}
      </Fact>
      <Fact label={t('field.imprint')}>{metadata.imprint}</Fact>
      <Fact label={t('details.released')}>
        {metadata.releaseDate && formatDate(metadata.releaseDate)}
      </Fact>
      <Fact label={t('field.language')}>
        {metadata.languageIso && languageName(metadata.languageIso)}
      </Fact>
      <Fact label={t('field.ageRating')}>{ageText(metadata.ageRating)}</Fact>
      <Fact label={t('details.arcs')}>{names(metadata.storyArcs.map(arc => arc.name))}</Fact>
      <Fact label={t('details.characters')}>{names(metadata.characters)}</Fact>
      <Fact label={t('details.teams')}>{names(metadata.teams)}</Fact>
      <Fact label={t('details.locations')}>{names(metadata.locations)}</Fact>
      <Fact label="ISBN">{metadata.isbns}</Fact>
      <Fact label={t('field.readingDirection')}>
        {book.readingDirection && textOr(`direction.${book.readingDirection}`, '')}
      </Fact>
      <WebLinks links={metadata.links.map(({ source, url }) => ({ name: source, url }))} />
      <FileFacts book={book} />
      {/* Loaded later, so at the end, where they move nothing. */}
      <ReadListFact id={book.id} />
      <CollectionFact seriesId={book.seriesId} />
    </dl>
  )
}

const firstPage = { page: 1, pageSize: 20 }

function ReadListFact({ id }: { id: string }) {
  const path = can('ReadListsRead') ? '/api/v1/books/{id}/readlists' : null
  const { data } = useGet(path, { path: { id }, query: firstPage })
  return <Fact label={t('nav.readLists')}>{groupingLinks('readlists', data?.data ?? [])}</Fact>
}

function CollectionFact({ seriesId }: { seriesId: string }) {
  const path = can('CollectionsRead') ? '/api/v1/series/{id}/collections' : null
  const { data } = useGet(path, { path: { id: seriesId }, query: firstPage })
  return <Fact label={t('nav.collections')}>{groupingLinks('collections', data?.data ?? [])}</Fact>
}

function FileFacts({ book }: { book: Book }) {
  return (
    <>
      <Fact label={t('field.format')}>{bookFormat(book)}</Fact>
      <Fact label={t('field.fileSize')}>{formatBytes(book.fileSize)}</Fact>
      <Fact label={t('label.pages')}>{book.pageCount > 0 && String(book.pageCount)}</Fact>
      <Fact label={t('field.dateAdded')}>{formatDate(book.createdAt)}</Fact>
      <Fact label={t('details.file')}>
        {can('BooksWrite') && <code dir="ltr">{book.path}</code>}
      </Fact>
    </>
  )
}
