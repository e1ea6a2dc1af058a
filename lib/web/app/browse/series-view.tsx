// Page of a series: metadata, actions and its books.
import { api, body, type Schemas } from '../api/client.ts'
import { type Resource, useGet, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { isReadable } from '../lists/card.tsx'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { SeriesRating } from '../organize/rating.tsx'
import { SeriesReleases } from '../releases/series-releases.tsx'
import type { ViewProps } from '../routing/load-view.ts'
import { href } from '../routing/router.ts'
import { formatBytes, formatDate, t, textOr } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { ErrorState, Loading } from '../ui/state.tsx'
import { DetailLayout, SeriesMenu, WantToReadButton } from './detail-layout.tsx'
import { languageName } from './filters/filter-texts.ts'
import {
  AuthorFacts,
  ageText,
  Fact,
  filterLink,
  groupingLinks,
  joined,
  Labels,
  NoSummary,
  Summary,
  WebLinks,
} from './metadata.tsx'
import { SeriesBooks } from './series-books.tsx'

type Series = Schemas['SeriesFull']

export function View({ params: { id = '' } }: ViewProps) {
  const series = useGet('/api/v1/series/{id}/full', { path: { id } })
  const next = useResource(`series/${id}/next`, signal => nextBookOf(id, signal))
  const reload = () => {
    series.reload()
    next.reload()
  }
  useReloadOnEvents(event => event.seriesId === id && event.type !== 'cover_updated', reload)
  const { data, error } = series
  if (error && !data) return <ErrorState error={error} onRetry={series.reload} />
  if (!data) return <Loading />
  return (
    <div>
      <DetailLayout
        owner="series"
        id={id}
        title={data.title}
        above={{ path: `libraries/${data.libraryId}`, name: data.libraryName }}
        subtitle={subtitleOf(data)}
        actions={<SeriesActions series={series} data={data} next={next.data} onChange={reload} />}
      >
        <SeriesSummary series={data} onSaved={reload} />
        <Labels name="genre" labels={data.genres} />
        <Labels name="tag" labels={data.tags} />
        <SeriesFacts series={data} />
        <SeriesReleases seriesId={data.id} />
      </DetailLayout>
      <SeriesBooks series={data} />
    </div>
  )
}

/** The series summary, otherwise the first book's. */
function SeriesSummary({ series, onSaved }: { series: Series; onSaved: () => void }) {
  const { id, title, summary, booksMetadata } = series
  const ofBook = booksMetadata.summary
  if (summary) return <Summary text={summary} />
  if (!ofBook) return <NoSummary owner="series" id={id} title={title} onSaved={onSaved} />
  const name =
    ofBook.number === null
      ? t('details.aBook')
      : t('lists.number', { number: String(ofBook.number) })
  return (
    <div>
      <Summary text={ofBook.text} />
      <p class="browse-source">
        <a href={href(`books/${ofBook.bookId}`)}>{t('details.summaryOf', { name })}</a>
      </p>
    </div>
  )
}

function subtitleOf(series: Series) {
  const { year, status, bookCount, unreadCount, booksMetadata } = series
  const publisher = series.publisher ?? booksMetadata.publishers[0]
  return [
    year === null ? yearsOf(booksMetadata) : filterLink('year', `${year}-${year}`, String(year)),
    publisher && (series.publisher ? filterLink('publisher', publisher) : publisher),
    status && status !== 'unknown' && textOr(`series.status.${status}`, status),
    t('count.books', { count: bookCount }),
    unreadCount > 0 && unreadCount < bookCount && t('lists.unreadBooks', { count: unreadCount }),
  ]
}

/** Years of the books; the filter finds only years of the series itself. */
function yearsOf({ firstYear, lastYear }: Series['booksMetadata']): string | null {
  if (firstYear === null) return null
  return firstYear === lastYear ? String(firstYear) : `${firstYear}–${lastYear}`
}

type ActionsProps = {
  series: Resource<Series>
  data: Series
  next: Schemas['Book'] | null | undefined
  onChange: () => void
}

function SeriesActions({ series, data, next, onChange }: ActionsProps) {
  const isBegun = data.readCount > 0 || next?.readProgress != null
  return (
    <>
      {/* Placeholder until it is loaded. */}
      {next === undefined && (
        <span class="button primary browse-read blank" aria-hidden>
          <Icon name="play" />
          {data.readCount > 0 ? t('action.continue', { title: '#00' }) : t('action.read')}
        </span>
      )}
      {next && (
        <a class="button primary browse-read" href={href(`books/${next.id}/read`)}>
          <Icon name="play" />
          <span class="ellipsis">{readText(next, isBegun)}</span>
        </a>
      )}
      <WantToReadButton
        selection={{ seriesIds: [data.id] }}
        item={data}
        onChange={series.replace}
      />
      <SeriesRating
        seriesId={data.id}
        rating={data.userRating}
        onChanged={userRating => series.replace({ ...data, userRating })}
      />
      <SeriesMenu series={data} onChange={onChange} />
    </>
  )
}

function readText({ readProgress, numberText, title }: Schemas['Book'], isBegun: boolean): string {
  if (readProgress?.completed) return t('action.readAgain')
  return isBegun
    ? t('action.continue', {
        title: numberText ? t('lists.number', { number: numberText }) : title,
      })
    : t('action.read')
}

function SeriesFacts({ series }: { series: Series }) {
  const { metadata, alternateTitles, externalLinks, externalRatings, collections } = series
  const { booksMetadata } = series
  const authors = metadata.authors?.length ? metadata.authors : booksMetadata.authors
  return (
    <dl class="browse-facts">
      <AuthorFacts authors={authors} />
      <Fact label={t('details.otherTitles')}>
        {joined(
          alternateTitles.map(({ title, label }) => (
            <span key={title} dir="auto" title={label}>
              {title}
            </span>
          )),
        )}
      </Fact>
      <Fact label={t('field.imprint')}>{metadata.imprint}</Fact>
      <Fact label={t('field.language')}>
        {series.language
          ? filterLink('language', series.language, languageName(series.language))
          : booksMetadata.languages.map(languageName).join(', ')}
      </Fact>
      <Fact label={t('field.ageRating')}>
        {ageText(series.ageRating ?? booksMetadata.ageRating)}
      </Fact>
      <Fact label={t('field.readingDirection')}>
        {metadata.readingDirection && textOr(`direction.${metadata.readingDirection}`, '')}
      </Fact>
      <Fact label={t('details.volumes')}>
        {metadata.totalVolumeCount !== null && String(metadata.totalVolumeCount)}
      </Fact>
      <Fact label={t('details.ratings')}>
        {joined(
          externalRatings.map(
            ({ sourceName, rating }) => `${sourceName} ${Math.round(rating * 10) / 10}`,
          ),
        )}
      </Fact>
      <Fact label={t('nav.collections')}>{groupingLinks('collections', collections)}</Fact>
      <WebLinks links={externalLinks.map(({ sourceName, url }) => ({ name: sourceName, url }))} />
      <Fact label={t('field.fileSize')}>{formatBytes(series.fileSize)}</Fact>
      <Fact label={t('field.dateAdded')}>{formatDate(series.createdAt)}</Fact>
      <Fact label={t('field.path')}>
        {can('SeriesWrite') && series.path && <code dir="ltr">{series.path}</code>}
      </Fact>
    </dl>
  )
}

type Status = 'in_progress' | 'read' | 'unread'

/** The book read last or its successor, otherwise the first unread or the first one; null without any. Throws ApiError. */
async function nextBookOf(seriesId: string, signal: AbortSignal): Promise<Schemas['Book'] | null> {
  const first = async (statuses: Status[], sort: 'last_read,desc' | 'number,asc') => {
    const condition = {
      allOf: [
        { seriesId: { operator: 'is', value: seriesId } },
        { anyOf: statuses.map(value => ({ readStatus: { operator: 'is' as const, value } })) },
        { hasError: { operator: 'isFalse' } },
      ],
    } satisfies Schemas['BookCondition']
    const query = { page: 1, pageSize: 1, sort }
    const init = { params: { query }, body: { condition }, signal }
    return (await body(api.POST('/api/v1/books/list', init))).data[0] ?? null
  }
  const [latest, unread] = await Promise.all([
    first(['in_progress', 'read'], 'last_read,desc'),
    first(['unread'], 'number,asc'),
  ])
  if (!latest?.readProgress?.completed) return latest ?? unread
  const params = { path: { id: latest.id } }
  const { next } = await body(api.GET('/api/v1/books/{id}/adjacent', { params, signal }))
  if (next && isReadable(next) && !next.readProgress?.completed) return next
  return (
    unread ??
    (await first(['in_progress'], 'last_read,desc')) ??
    (await first(['read'], 'number,asc'))
  )
}
