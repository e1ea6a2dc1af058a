// Facts of a book: authors, publication, file.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { bookFormat } from '../lists/book-state.ts'
import { href } from '../routing/router.ts'
import { formatBytes, formatDate, t, textOr } from '../text/translate.ts'
import { languageName } from './filters/filter-texts.ts'
import { AuthorFacts, ageText, Fact, filterLink, joined, WebLinks } from './metadata.tsx'

type Book = Schemas['BookFull']

export function BookFacts({ book }: { book: Book }) {
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

function ReadListFact({ id }: { id: string }) {
  const query = { page: 1, pageSize: 20 }
  const { data } = useResource(can('ReadListsRead') ? `books/${id}/readlists` : null, signal =>
    body(api.GET('/api/v1/books/{id}/readlists', { params: { path: { id }, query }, signal })),
  )
  return <Fact label={t('nav.readLists')}>{linksTo('readlists', data?.data ?? [])}</Fact>
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
  return <Fact label={t('nav.collections')}>{linksTo('collections', data?.data ?? [])}</Fact>
}

type Grouping = { id: string; name: string }

const linksTo = (folder: string, groupings: readonly Grouping[]) =>
  groupings.length > 0 &&
  joined(
    groupings.map(({ id, name }) => (
      <a key={id} href={href(`${folder}/${id}`)} dir="auto">
        {name}
      </a>
    )),
  )

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
