// Entries (RFC 4287, OPDS 1.2 §5): of books, which can be fetched, and of feeds, which can be opened.
import { isbn13 } from '../../metadata/isbn.ts'
import type { Entry } from '../feed.ts'
import { filePath, fileType } from '../naming.ts'
import type { Publication } from '../publication.ts'
import { shownTitle, untitled } from '../title.ts'
import { stamp, startOf } from '../when.ts'
import type { Writing } from '../writing.ts'
import { description, pagesOf } from './description.ts'
import { entityId, feedId } from './id.ts'
import { covers, entryType, feedType, link, linkTitle, namespaces } from './link.ts'
import { people } from './people.ts'
import { type Content, document, element, isBlank, text, type Xml } from './xml.ts'

/** The complete entry of a book, as a document of its own. */
export function atomEntry(book: Publication, writing: Writing): string {
  const { links, server } = writing
  const { id, title } = book.series
  // Atom wants an author of every document; a book without one is not this server's work.
  const source = element(
    'source',
    {},
    text('id', entityId(id)),
    text('title', title),
    element('author', {}, text('name', server)),
  )
  const self = link('self', links.to(`/books/${book.id}`), { type: entryType })
  const content = bookContent(book, { writing, isMixed: true })
  return document(element('entry', namespaces, ...content, source, self))
}

/** The entry of a book in a feed; `isMixed` when the feed's books are of several series. */
export function bookEntry(book: Publication, { writing, isMixed }: Showing): Xml {
  const whole = link('alternate', writing.links.to(`/books/${book.id}`), { type: entryType })
  return element('entry', {}, ...bookContent(book, { writing, isMixed }), whole)
}

type Showing = { writing: Writing; isMixed: boolean }

function bookContent(book: Publication, { writing, isMixed }: Showing): Content[] {
  const { links, may } = writing
  return [
    text('title', named(shownTitle(book, isMixed))),
    text('id', entityId(book.id)),
    text('updated', stamp(book.updated)),
    ...people(book.authors),
    ...facts(book),
    ...categories(book.genres, genres),
    ...categories(book.tags, tags),
    element('content', { type: 'html' }, description(book)),
    ...covers(`/books/${book.id}`, links),
    link('http://opds-spec.org/acquisition', links.to(filePath(book)), {
      type: fileType(book.format, 1),
      length: book.fileSize,
      title: linkTitle('File', book.fileName),
    }),
    may.stream ? stream(book, writing) : null,
    link('related', links.to(`/series/${book.series.id}`), {
      type: feedType('acquisition'),
      // KOReader takes a link that is called just `pdf` for a file to fetch.
      title: `Series: ${named(book.series.title)}`,
    }),
  ]
}

/** What there is of Dublin Core; Thorium takes the date from `published`, others from `dc:issued`. */
function facts({ released, language, publisher, isbn, pageCount }: Publication): Content[] {
  const number = isbn && isbn13(isbn)
  return [
    released && text('published', startOf(released)),
    released && text('dc:issued', released),
    language && text('dc:language', language),
    publisher && text('dc:publisher', publisher),
    number && text('dc:identifier', `urn:isbn:${number}`),
    pageCount > 0 ? text('dc:extent', pagesOf(pageCount)) : null,
  ]
}

// The feed of all of that kind, by its permanent name.
const genres = feedId({ path: '/genres' })
const tags = feedId({ path: '/tags' })

function categories(labels: readonly string[], scheme: string): Xml[] {
  const shown = labels.filter(label => !isBlank(label))
  return shown.map(label => element('category', { term: label, label, scheme }))
}

/** Pages one by one (OPDS-PSE 1.2): the client fills in numbers from 0, the place is told from 1. */
function stream({ id, streamedAs, pageCount, place }: Publication, { links }: Writing) {
  if (streamedAs === null) return null
  const read = place?.isCompleted ? pageCount : Math.min(place?.page ?? 0, pageCount)
  const href = links.template(`/books/${id}/pages/`, '{pageNumber}?width={maxWidth}')
  return link('http://vaemendis.net/opds-pse/stream', href, {
    type: streamedAs,
    'pse:count': pageCount,
    ...(place && read > 0 ? { 'pse:lastRead': read, 'pse:lastReadDate': stamp(place.at) } : {}),
  })
}

/**
 * The entry of a feed. Nothing describes it, for Thorium shows what does so instead of the title; and
 * it has neither author nor a second Atom link, or it would be taken for a book.
 */
export function feedEntry(entry: Entry, { links, changed }: Writing): Xml {
  const { path, query, title, kind, count, cover, rel = 'subsection' } = entry
  return element(
    'entry',
    {},
    text('title', named(title)),
    text('id', entry.id === undefined ? feedId({ path, query }) : entityId(entry.id)),
    text('updated', stamp(entry.updated ?? changed)),
    element('content', { type: 'text' }),
    link(rel, links.to(path, query), { type: feedType(kind), 'thr:count': count }),
    ...(cover === undefined ? [] : covers(cover, links)),
  )
}

/** Something to tap on, whatever is left of the title. */
export const named = (title: string): string => (isBlank(title) ? untitled : title)
