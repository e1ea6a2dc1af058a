// Page of a series: metadata, actions and its books.
import { api, body, type Schemas } from '../api/client.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { setWantToRead } from '../organise/actions.ts'
import { SeriesRating } from '../organise/rating.ts'
import { href } from '../routing/router.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { formatBytes, formatDate, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { DetailLayout } from './detail-layout.ts'
import { languageName } from './filters/filter-texts.ts'
import {
  AuthorFacts,
  ageText,
  Fact,
  filterLink,
  joined,
  Labels,
  Summary,
  WebLinks,
} from './metadata.ts'
import { nextBookOf } from './next-book.ts'
import { SeriesBooks } from './series-books.ts'
import { SeriesMenu } from './series-menu.ts'

type Series = Schemas['SeriesFull']

export function View({ params: { id } }: ViewProps) {
  return h(SeriesPage, { id: id!, key: id })
}

function SeriesPage({ id }: { id: string }) {
  const series = useResource(`series/${id}`, signal =>
    body(api.GET('/api/v1/series/{id}/full', { params: { path: { id } }, signal })),
  )
  const next = useResource(`series/${id}/next`, signal => nextBookOf(id, signal))
  const reload = () => {
    series.reload()
    next.reload()
  }
  useReloadOnEvents(event => event.seriesId === id && event.type !== 'cover_updated', reload)
  const { data, error } = series
  if (error && !data) return h(ErrorState, { error, onRetry: series.reload })
  if (!data) return h('div', { class: 'view-loading', 'aria-busy': true })
  return h(
    'div',
    null,
    h(
      DetailLayout,
      {
        owner: 'series',
        id,
        title: data.title,
        above: h('a', { href: href(`libraries/${data.libraryId}`), dir: 'auto' }, data.libraryName),
        subtitle: h(SeriesSubtitle, { series: data }),
        actions: h(SeriesActions, { series, data, next: next.data, onChange: reload }),
      },
      h(SeriesSummary, { series: data }),
      h(Labels, { name: 'genre', labels: data.genres }),
      h(Labels, { name: 'tag', labels: data.tags }),
      h(SeriesFacts, { series: data }),
    ),
    h(SeriesBooks, { series: data }),
  )
}

/** Its own, or that of its first book that has one. */
function SeriesSummary({ series: { summary, booksMetadata } }: { series: Series }) {
  const ofBook = booksMetadata.summary
  if (summary || !ofBook) return h(Summary, { text: summary })
  const name = ofBook.number === null ? t('details.aBook') : `#${ofBook.number}`
  return h(
    'div',
    null,
    h(Summary, { text: ofBook.text }),
    h(
      'p',
      { class: 'browse-source' },
      h('a', { href: href(`books/${ofBook.bookId}`) }, t('details.summaryOf', { name })),
    ),
  )
}

function SeriesSubtitle({ series }: { series: Series }) {
  const { year, status, bookCount, unreadCount, booksMetadata } = series
  const publisher = series.publisher ?? booksMetadata.publishers[0]
  const parts = [
    year === null ? yearsOf(booksMetadata) : filterLink('year', `${year}-${year}`, String(year)),
    publisher && (series.publisher ? filterLink('publisher', publisher) : publisher),
    status && status !== 'unknown' && textOr(`series.status.${status}`, status),
    t('lists.books', { count: bookCount }),
    unreadCount > 0 && unreadCount < bookCount && t('lists.unreadBooks', { count: unreadCount }),
  ]
  return parts.filter(Boolean).map((part, key) => h('span', { key }, part))
}

/** Of the books; only years of the series itself are found by the filter. */
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
  const toggleWanted = async () => {
    await setWantToRead({ seriesIds: [data.id] }, !data.wantToRead)
    series.replace({ ...data, wantToRead: !data.wantToRead })
  }
  const isBegun = data.readCount > 0 || next?.readProgress != null
  return [
    // Its place, until it is known.
    next === undefined &&
      h(
        'span',
        { key: 'read', class: 'button primary browse-read blank', 'aria-hidden': true },
        h(Icon, { name: 'play' }),
        data.readCount > 0 ? t('action.continue', { title: '#00' }) : t('action.read'),
      ),
    next &&
      h(
        'a',
        { key: 'read', class: 'button primary browse-read', href: href(`books/${next.id}/read`) },
        h(Icon, { name: 'play' }),
        h('span', null, readText(next, isBegun)),
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
    h(SeriesRating, {
      key: 'rating',
      seriesId: data.id,
      rating: data.userRating,
      onChanged: userRating => series.replace({ ...data, userRating }),
    }),
    h(SeriesMenu, { key: 'menu', series: data, onChange }),
  ]
}

function readText({ readProgress, numberText, title }: Schemas['Book'], isBegun: boolean): string {
  if (readProgress?.completed) return t('action.readAgain')
  return isBegun
    ? t('action.continue', { title: numberText ? `#${numberText}` : title })
    : t('action.read')
}

function SeriesFacts({ series }: { series: Series }) {
  const { metadata, alternateTitles, externalLinks, externalRatings, collections } = series
  const { booksMetadata } = series
  const authors = metadata.authors?.length ? metadata.authors : booksMetadata.authors
  return h(
    'dl',
    { class: 'browse-facts' },
    h(AuthorFacts, { authors }),
    h(Fact, {
      label: t('details.otherTitles'),
      children: joined(
        alternateTitles.map(({ title, label }) =>
          h('span', { key: title, dir: 'auto', title: label }, title),
        ),
      ),
    }),
    h(Fact, { label: t('details.imprint'), children: metadata.imprint }),
    h(Fact, {
      label: t('filter.language'),
      children: series.language
        ? filterLink('language', series.language, languageName(series.language))
        : booksMetadata.languages.map(languageName).join(', '),
    }),
    h(Fact, {
      label: t('details.ageRating'),
      children: ageText(series.ageRating ?? booksMetadata.ageRating),
    }),
    h(Fact, {
      label: t('details.direction'),
      children: metadata.readingDirection && textOr(`direction.${metadata.readingDirection}`, ''),
    }),
    h(Fact, {
      label: t('details.volumes'),
      children: metadata.totalVolumeCount !== null && String(metadata.totalVolumeCount),
    }),
    h(Fact, {
      label: t('details.ratings'),
      children: joined(
        externalRatings.map(
          ({ sourceName, rating }) => `${sourceName} ${Math.round(rating * 10) / 10}`,
        ),
      ),
    }),
    h(Fact, {
      label: t('nav.collections'),
      children: joined(
        collections.map(({ id, name }) =>
          h('a', { key: id, href: href(`collections/${id}`), dir: 'auto' }, name),
        ),
      ),
    }),
    h(WebLinks, {
      links: externalLinks.map(({ sourceName, url }) => ({ name: sourceName, url })),
    }),
    h(Fact, { label: t('details.size'), children: formatBytes(series.fileSize) }),
    h(Fact, { label: t('details.added'), children: formatDate(series.createdAt) }),
    h(Fact, {
      label: t('details.folder'),
      children: can('SeriesWrite') && series.path && h('code', { dir: 'ltr' }, series.path),
    }),
  )
}
