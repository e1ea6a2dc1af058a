// Atom entries (RFC 4287, OPDS 1.2 §5): of books, which can be downloaded, and of feeds.
import {
  type Content,
  document,
  element,
  isBlank,
  text,
  type Xml,
} from '../../../base/xml-writer.ts'
import { isbn13 } from '../../../media/metadata/isbn.ts'
import type { Author } from '../../../media/metadata/values.ts'
import { filePath } from '../../publication/links.ts'
import { fileType } from '../../publication/media-types.ts'
import { namesOf, type Publication, sizeText, summaryText } from '../../publication/publication.ts'
import { type FeedContext, formatTimestamp, type NavigationEntry, startOfDate } from '../feed.ts'
import { displayTitle, untitled } from '../title.ts'
import {
  covers,
  entityId,
  entryType,
  feedId,
  feedType,
  link,
  linkTitle,
  namespaces,
} from './link.ts'

/** The complete entry of a book as a document. */
export function atomEntry(book: Publication, context: FeedContext): string {
  const { links, serverName } = context
  // Atom requires an author in every document. Apps mistake a `source` for the book, so it cannot contain it.
  const author =
    namesOf(book.authors).authors.length > 0
      ? null
      : person('author', titleOrUntitled(book.publisher ?? serverName))
  const content = bookContent(book, { context, isMixed: true })
  const { id, title } = book.series
  const related = link('related', links.to(`/series/${id}`), {
    type: feedType('acquisition'),
    // With the prefix, because KOReader treats a link with the title `pdf` as a download.
    title: `Series: ${titleOrUntitled(title)}`,
  })
  return document(element('entry', namespaces, ...content, author, related))
}

type EntryOptions = {
  context: FeedContext
  /** The books of the feed belong to several series. */
  isMixed: boolean
}

/** The entry of a book in a feed: complete, but without links to feeds, because apps would display a folder for them. */
export function bookEntry(book: Publication, options: EntryOptions): Xml {
  return element('entry', {}, ...bookContent(book, options))
}

function bookContent(book: Publication, { context, isMixed }: EntryOptions): Content[] {
  const { links, allows } = context
  return [
    text('title', titleOrUntitled(displayTitle(book, isMixed))),
    text('id', entityId(book.id)),
    text('updated', formatTimestamp(book.updatedAt)),
    link('self', links.to(`/books/${book.id}`), { type: entryType }),
    ...people(book.authors),
    ...dublinCore(book),
    ...categories(book.genres, genreScheme),
    ...categories(book.tags, tagScheme),
    element('content', { type: 'html' }, description(book)),
    ...covers(`/books/${book.id}`, links),
    link('http://opds-spec.org/acquisition', links.to(filePath(book)), {
      type: fileType(book.format, 1),
      length: book.fileSize,
      title: linkTitle('File', book.fileName),
    }),
    allows.pageStreaming ? streamLink(book, context) : null,
  ]
}

const person = (elementName: string, name: string) => element(elementName, {}, text('name', name))

/** Authors, then contributors. */
function people(everyone: readonly Author[]): Xml[] {
  const { authors, contributors } = namesOf(everyone)
  return [
    ...authors.map(name => person('author', name)),
    ...contributors.map(name => person('contributor', name)),
  ]
}

/** Thorium reads the date from `published`, other apps from `dc:issued`. */
function dublinCore(book: Publication): Content[] {
  const { releaseDate, language, publisher, isbn, pageCount } = book
  const number = isbn && isbn13(isbn)
  return [
    releaseDate && text('published', startOfDate(releaseDate)),
    releaseDate && text('dc:issued', releaseDate),
    language && text('dc:language', language),
    publisher && text('dc:publisher', publisher),
    number && text('dc:identifier', `urn:isbn:${number}`),
    pageCount > 0 ? text('dc:extent', formatPageCount(pageCount)) : null,
  ]
}

// The permanent ids of the feeds that list genres and tags.
const genreScheme = feedId({ path: '/genres' })
const tagScheme = feedId({ path: '/tags' })

function categories(labels: readonly string[], scheme: string): Xml[] {
  return labels
    .filter(label => !isBlank(label))
    .map(label => element('category', { term: label, label, scheme }))
}

/** Page streaming link (OPDS-PSE 1.2): the client inserts 0-based page numbers; `lastRead` is 1-based. */
function streamLink(book: Publication, { links }: FeedContext) {
  const { id, streamMediaType, pageCount, progress } = book
  if (streamMediaType === null) return null
  const lastRead = progress?.isCompleted ? pageCount : Math.min(progress?.page ?? 0, pageCount)
  const href = links.template(`/books/${id}/pages/`, '{pageNumber}?width={maxWidth}')
  return link('http://vaemendis.net/opds-pse/stream', href, {
    type: streamMediaType,
    'pse:count': pageCount,
    ...(progress && lastRead > 0
      ? { 'pse:lastRead': lastRead, 'pse:lastReadDate': formatTimestamp(progress.updatedAt) }
      : {}),
  })
}

/** The entry of a feed. With an author or a second Atom link, apps would mistake it for a book. */
export function feedEntry(entry: NavigationEntry, { links, catalogUpdatedAt }: FeedContext): Xml {
  const { path, query, title, kind, count, cover, description, rel = 'subsection' } = entry
  return element(
    'entry',
    {},
    text('title', titleOrUntitled(title)),
    text('id', entry.id === undefined ? feedId({ path, query }) : entityId(entry.id)),
    text('updated', formatTimestamp(entry.updatedAt ?? catalogUpdatedAt)),
    element('content', { type: 'text' }, ...(description ? [description] : [])),
    link(rel, links.to(path, query), { type: feedType(kind), 'thr:count': count }),
    ...(cover === undefined ? [] : covers(cover, links)),
  )
}

/** A visible title, because apps need something to tap on. */
export const titleOrUntitled = (title: string): string => (isBlank(title) ? untitled : title)

/**
 * HTML for the `content` element, which apps display as a whole: format, size and pages, then the error of an
 * unreadable file and the summary, line by line.
 */
function description(book: Publication): string {
  const summary = summaryText(book)?.trim() || null
  const lines = [factsLine(book), ...(summary?.split(/\r\n?|\n/) ?? [])]
  return lines.map(escapeHtml).join('<br/>')
}

const factsLine = ({ format, fileSize, pageCount }: Publication) =>
  [
    ...(format === null ? [] : [format.toUpperCase()]),
    formatSize(fileSize),
    ...(pageCount > 0 ? [formatPageCount(pageCount)] : []),
  ].join(', ')

const formatPageCount = (count: number): string => (count === 1 ? '1 page' : `${count} pages`)

const formatSize = (bytes: number): string =>
  bytes < 1024 ? `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}` : sizeText(bytes)

// Numeric references: Foliate replaces `&lt;`, `&gt;` and `&amp;` in text that it has already decoded, which
// would turn the text into tags.
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, char => `&#${char.charCodeAt(0)};`)
