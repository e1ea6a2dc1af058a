// Facts of a book: authors, publication, file.
import type { Schemas } from '../api/client.ts'
import { can } from '../api/session.ts'
import { useGet } from '../api/use-get.ts'
import { bookFormat } from '../lists/book-state.ts'
import { formatBytes, formatDate, t, textOr } from '../text/translate.ts'
import { languageName } from './filters/filter-texts.ts'
import { AuthorFacts, ageText, Fact, filterLink, groupingLinks, WebLinks } from './metadata.tsx'

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
