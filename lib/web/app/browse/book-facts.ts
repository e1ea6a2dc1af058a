// Facts of a book: authors, publication, what its file is.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { bookFormat } from '../lists/book-state.ts'
import { href } from '../routing/router.ts'
import { formatBytes, formatDate, t, textOr } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { languageName } from './filters/filter-texts.ts'
import { AuthorFacts, ageText, Fact, filterLink, joined, WebLinks } from './metadata.ts'

type Book = Schemas['BookFull']

export function BookFacts({ book }: { book: Book }) {
  const { metadata } = book
  const names = (values: readonly string[]) => values.join(', ')
  return h(
    'dl',
    { class: 'browse-facts' },
    h(AuthorFacts, { authors: metadata.authors }),
    h(Fact, { label: t('details.subtitle'), children: metadata.subtitle }),
    h(Fact, { label: t('details.originalTitle'), children: metadata.originalTitle }),
    h(Fact, {
      label: t('filter.publisher'),
      children: metadata.publisher && filterLink('publisher', metadata.publisher),
    }),
    h(Fact, { label: t('details.imprint'), children: metadata.imprint }),
    h(Fact, {
      label: t('details.released'),
      children: metadata.releaseDate && formatDate(metadata.releaseDate),
    }),
    h(Fact, {
      label: t('filter.language'),
      children: metadata.languageIso && languageName(metadata.languageIso),
    }),
    h(Fact, {
      label: t('details.ageRating'),
      children: ageText(metadata.ageRating),
    }),
    h(Fact, { label: t('details.arcs'), children: names(metadata.storyArcs.map(arc => arc.name)) }),
    h(Fact, { label: t('details.characters'), children: names(metadata.characters) }),
    h(Fact, { label: t('details.teams'), children: names(metadata.teams) }),
    h(Fact, { label: t('details.locations'), children: names(metadata.locations) }),
    h(Fact, { label: 'ISBN', children: metadata.isbns }),
    h(Fact, {
      label: t('details.direction'),
      children: book.readingDirection && textOr(`direction.${book.readingDirection}`, ''),
    }),
    h(WebLinks, { links: metadata.links.map(({ source, url }) => ({ name: source, url })) }),
    h(FileFacts, { book }),
    // Loaded later, so that they move no others.
    h(ReadListFact, { id: book.id }),
    h(CollectionFact, { seriesId: book.seriesId }),
  )
}

function ReadListFact({ id }: { id: string }) {
  const query = { page: 1, pageSize: 20 }
  const { data } = useResource(can('ReadListsRead') ? `books/${id}/readlists` : null, signal =>
    body(api.GET('/api/v1/books/{id}/readlists', { params: { path: { id }, query }, signal })),
  )
  return h(Fact, {
    label: t('nav.readLists'),
    children: linksTo('readlists', data?.data ?? []),
  })
}

function CollectionFact({ seriesId }: { seriesId: string }) {
  const query = { page: 1, pageSize: 20 }
  const { data } = useResource(
    can('CollectionsRead') ? `series/${seriesId}/collections` : null,
    signal =>
      body(
        api.GET('/api/v1/series/{id}/collections', {
          params: { path: { id: seriesId }, query },
          signal,
        }),
      ),
  )
  return h(Fact, {
    label: t('nav.collections'),
    children: linksTo('collections', data?.data ?? []),
  })
}

type Grouping = { id: string; name: string }

const linksTo = (folder: string, groupings: readonly Grouping[]) =>
  groupings.length > 0 &&
  joined(
    groupings.map(({ id, name }) =>
      h('a', { key: id, href: href(`${folder}/${id}`), dir: 'auto' }, name),
    ),
  )

function FileFacts({ book }: { book: Book }) {
  return [
    h(Fact, { key: 'format', label: t('details.format'), children: bookFormat(book) }),
    h(Fact, { key: 'size', label: t('details.size'), children: formatBytes(book.fileSize) }),
    h(Fact, {
      key: 'pages',
      label: t('details.pages'),
      children: book.pageCount > 0 && String(book.pageCount),
    }),
    h(Fact, { key: 'added', label: t('details.added'), children: formatDate(book.createdAt) }),
    h(Fact, {
      key: 'path',
      label: t('details.file'),
      children: can('BooksWrite') && h('code', { dir: 'ltr' }, book.path),
    }),
  ]
}
