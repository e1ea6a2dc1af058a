// Readium metadata of a book, in OPDS 2.0 publications and in manifests (metadata.schema.json of the
// Readium Web Publication Manifest).
import type { ReadiumProfile } from '../../../media/format/contract.ts'
import { type FormatName, formatNamed, isReflowable } from '../../../media/format/formats.ts'
import { canonicalLanguage } from '../../../media/metadata/language.ts'
import { multiLine, singleLine } from '../../../media/metadata/text.ts'
import type { Author, ReadingDirection } from '../../../media/metadata/values.ts'
import type { Links } from '../../publication/links.ts'
import { feedType } from '../../publication/media-types.ts'
import { type Publication, propertyByRole, summaryText } from '../../publication/publication.ts'
import { formatTimestamp } from '../feed.ts'
import { displayTitle, untitled } from '../title.ts'

export type Profile = ReadiumProfile

/** `isMixed`: whether it is shown among books of other series. Unknown values may be empty. */
export function metadataOf(book: Publication, links: Links, isMixed: boolean): object {
  const { isbn, releaseDate, language } = book
  return {
    '@type': isComic(book.format) ? 'http://schema.org/ComicIssue' : 'http://schema.org/Book',
    ...(book.format === null ? {} : { conformsTo: profileUri(profileOf(book.format)) }),
    title: singleLine(displayTitle(book, isMixed)) ?? singleLine(book.fileName) ?? untitled,
    subtitle: singleLine(book.subtitle ?? ''),
    // Not the ISBN: two files of the same edition are two books.
    identifier: `urn:uuid:${book.id}`,
    altIdentifier: isbn === null || !/^\d{13}$/.test(isbn) ? [] : [`urn:isbn:${isbn}`],
    modified: formatTimestamp(book.updatedAt),
    // The schema allows only complete dates.
    published: releaseDate && `${releaseDate}-01-01`.slice(0, 10),
    language: language && canonicalLanguage(language),
    ...contributors(book.authors),
    publisher: organization(book.publisher),
    imprint: organization(book.imprint),
    subject: subjects(book, links),
    description: multiLine(summaryText(book) ?? ''),
    numberOfPages: book.pageCount > 0 ? book.pageCount : null,
    readingProgression: readingProgression(book.readingDirection),
    layout: layoutOf(book),
    belongsTo: { series: [seriesOf(book, links)] },
  }
}

/** The profile in which apps read a book of this format. */
export function profileOf(format: FormatName): Profile {
  return formatNamed(format).opds.profile
}

export const profileUri = (profile: Profile): string =>
  `https://readium.org/webpub-manifest/profiles/${profile}`

const isComic = (format: FormatName | null) => format !== null && profileOf(format) === 'divina'

function contributors(authors: readonly Author[]): Record<string, object[]> {
  const byProperty: Record<string, object[]> = {}
  for (const author of authors) {
    const name = singleLine(author.name)
    if (name === undefined) continue
    const { role } = author
    const property = role === null ? 'author' : propertyByRole[role]
    const person = { name, sortAs: singleLine(author.sortName ?? '') }
    if (property) (byProperty[property] ??= []).push(person)
    else (byProperty.contributor ??= []).push({ ...person, role: singleLine(role ?? '') })
  }
  return byProperty
}

/** Genres and tags, each with a link to its series; a name that is both is one subject. */
function subjects({ genres, tags }: Publication, links: Links): object[] {
  const labels = [
    ...genres.map(name => ({ name, query: { genre: name } })),
    ...tags.map(name => ({ name, query: { tag: name } })),
  ]
  const byName = Map.groupBy(labels, ({ name }) => singleLine(name))
  return [...byName].flatMap(([name, [first]]) =>
    name === undefined
      ? []
      : [{ name, links: [{ href: links.to('/series', first!.query), type: feedType }] }],
  )
}

function organization(value: string | null): object[] {
  const name = singleLine(value ?? '')
  return name === undefined ? [] : [{ name }]
}

/** The schema has no value for vertical reading; `layout` expresses it for a webtoon. */
const readingProgression = (direction: ReadingDirection | null) =>
  direction === 'ltr' || direction === 'rtl' ? direction : null

function layoutOf({ format, streamMediaType, readingDirection }: Publication): string | null {
  if (format === null) return null
  if (isReflowable(format) && streamMediaType === null) return 'reflowable'
  return readingDirection === 'webtoon' ? 'scrolled' : 'fixed'
}

function seriesOf({ series, seriesPosition: position }: Publication, links: Links): object {
  const name = singleLine(series.title) ?? untitled
  return { name, position, links: [{ href: links.to(`/series/${series.id}`), type: feedType }] }
}
