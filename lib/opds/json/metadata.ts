// What is said of a book, in OPDS 2.0 and in the manifests of its readers (Readium Web Publication
// Manifest, metadata.schema.json).
import type { FormatName } from '../../format/contract.ts'
import { canonicalLanguage } from '../../metadata/language.ts'
import type { Author, ReadingDirection } from '../../metadata/metadata.ts'
import { line, prose } from '../../metadata/text.ts'
import { aboutOf } from '../about.ts'
import type { Links } from '../links.ts'
import type { Publication } from '../publication.ts'
import { shownTitle, untitled } from '../title.ts'
import { stamp } from '../when.ts'
import { feedType } from './media.ts'

export type Profile = 'divina' | 'epub' | 'pdf'

/** `isMixed`: it stands beside books of other series, or alone. What is not known may be empty. */
export function metadataOf(book: Publication, links: Links, isMixed: boolean): object {
  const { isbn, released, language } = book
  return {
    '@type': isComic(book.format) ? 'http://schema.org/ComicIssue' : 'http://schema.org/Book',
    ...(book.format === null ? {} : { conformsTo: profileAddress(profileOf(book.format)) }),
    title: line(shownTitle(book, isMixed)) ?? line(book.fileName) ?? untitled,
    subtitle: line(book.subtitle ?? ''),
    // Two files of the same edition are two books: the ISBN does not tell them apart.
    identifier: `urn:uuid:${book.id}`,
    altIdentifier: isbn === null || !/^\d{13}$/.test(isbn) ? [] : [`urn:isbn:${isbn}`],
    modified: stamp(book.updated),
    // The schema knows whole dates alone.
    published: released && `${released}-01-01`.slice(0, 10),
    language: language && canonicalLanguage(language),
    ...contributors(book.authors),
    publisher: named(book.publisher),
    imprint: named(book.imprint),
    subject: [...new Set([...book.genres, ...book.tags].map(line))],
    description: prose(aboutOf(book) ?? ''),
    numberOfPages: book.pageCount > 0 ? book.pageCount : null,
    readingProgression: progression(book.direction),
    layout: layoutOf(book),
    belongsTo: { series: [seriesOf(book, links)] },
  }
}

/** The profile in which apps read a book of that format. */
export function profileOf(format: FormatName): Profile {
  return format === 'epub' || format === 'pdf' ? format : 'divina'
}

export const profileAddress = (profile: Profile): string =>
  `https://readium.org/webpub-manifest/profiles/${profile}`

const isComic = (format: FormatName | null) => format !== null && profileOf(format) === 'divina'

// Roles of the catalogue that the schema has a place for.
const places: Record<string, string> = {
  writer: 'author',
  author: 'author',
  penciller: 'penciler',
  inker: 'inker',
  colorist: 'colorist',
  letterer: 'letterer',
  editor: 'editor',
  translator: 'translator',
  artist: 'artist',
  illustrator: 'illustrator',
  narrator: 'narrator',
}

function contributors(authors: readonly Author[]): Record<string, object[]> {
  const found: Record<string, object[]> = {}
  for (const { name, role, sortName } of authors) {
    const shown = line(name)
    if (shown === undefined) continue
    const place = role === null ? 'author' : places[role]
    const person = { name: shown, sortAs: line(sortName ?? '') }
    if (place) (found[place] ??= []).push(person)
    else (found.contributor ??= []).push({ ...person, role: line(role ?? '') })
  }
  return found
}

function named(name: string | null): object[] {
  const shown = line(name ?? '')
  return shown === undefined ? [] : [{ name: shown }]
}

/** The schema has no word for what is read downwards; `layout` says it of a webtoon. */
const progression = (direction: ReadingDirection | null) =>
  direction === 'ltr' || direction === 'rtl' ? direction : null

function layoutOf({ format, streamedAs, direction }: Publication): string | null {
  if (format === null) return null
  if (format === 'epub' && streamedAs === null) return 'reflowable'
  return direction === 'webtoon' ? 'scrolled' : 'fixed'
}

function seriesOf({ series, position }: Publication, links: Links): object {
  const name = line(series.title) ?? untitled
  return { name, position, links: [{ href: links.to(`/series/${series.id}`), type: feedType }] }
}
