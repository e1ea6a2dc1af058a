// Series and books from JSON documents: search hits and metadata, by a mapping of fields.
import { maybe, type Static, strict, Type } from '../../base/schema.ts'
import { htmlToMultiLine } from '../../media/metadata/html.ts'
import { isbn13 } from '../../media/metadata/isbn.ts'
import type { BookHit, BookQuery, FetchedBook, FetchedSeries, SeriesHit } from '../contract.ts'
import { compileField, compileFields, Field, Fields, type ReadField } from './fields.ts'
import { bookRelevanceOf, relevanceOf } from './relevance.ts'

export const HitMapping = strict({
  externalId: Field,
  title: Field,
  alternateTitles: maybe(Field),
  year: maybe(Field),
  url: maybe(Field),
  coverUrl: maybe(Field),
  summary: maybe(Field),
})
export type HitMapping = Static<typeof HitMapping>

export const BookHitMapping = strict({
  ...HitMapping.properties,
  authors: maybe(Field),
  isbns: maybe(Field),
  publisher: maybe(Field),
})
export type BookHitMapping = Static<typeof BookHitMapping>

export const SeriesMapping = strict({
  url: maybe(Field),
  hash: maybe(Field),
  coverUrl: maybe(Field),
  metadata: Fields,
  externalIds: maybe(Fields),
  links: maybe(Fields),
  rating: maybe(
    strict({
      value: Field,
      votes: maybe(Field),
      maximum: maybe(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000_000,
          default: 100,
          description: 'Top of the rating scale.',
        }),
      ),
    }),
  ),
})
export type SeriesMapping = Static<typeof SeriesMapping>

export const BookMapping = strict(
  (({ rating: _, ...properties }) => properties)(SeriesMapping.properties),
)
export type BookMapping = Static<typeof BookMapping>

const listFields = new Set(['genres', 'tags', 'genre', 'subjects', 'isbns'])
const numberFields = new Set([
  ...['year', 'ageRating', 'totalVolumeCount', 'totalChapterCount'],
  ...['month', 'day', 'volume', 'count', 'originalYear', 'seriesPosition', 'seriesTotal'],
])
const maxValues = 500

type Unrated<T> = Omit<T, 'relevance'>
/** The hit in a document without its relevance; null if it has no id or title. */
export type ReadHit = (document: unknown) => Unrated<SeriesHit> | null
export type ReadBookHit = (document: unknown) => Unrated<BookHit> | null
/** What a document states about a series. */
export type ReadSeries = (document: unknown, externalId: string) => FetchedSeries
export type ReadBook = (document: unknown, externalId: string) => FetchedBook

export function withRelevance(hit: Unrated<SeriesHit>, query: string): SeriesHit {
  return { ...hit, relevance: relevanceOf(query, [hit.title, ...hit.alternateTitles]) }
}

export function withBookRelevance(hit: Unrated<BookHit>, query: BookQuery): BookHit {
  return { ...hit, relevance: bookRelevanceOf(query, hit) }
}

/** Throws Invalid. */
export function compileHit(mapping: HitMapping, label: string): ReadHit {
  const fields = compileFields(mapping as Record<string, Field>, label)
  return document => {
    const first = (name: string) => textOf(fields.get(name)?.(document)[0])
    const externalId = first('externalId')
    const title = first('title')
    if (externalId === null || title === null || externalId.length > 500) return null
    return {
      externalId,
      title: title.slice(0, 1000),
      alternateTitles: textsOf(fields.get('alternateTitles')?.(document)).map(text =>
        text.slice(0, 1000),
      ),
      year: integerOf(first('year')),
      url: webUrl(first('url')),
      coverUrl: webUrl(first('coverUrl')),
      summary: htmlToMultiLine(first('summary') ?? undefined)?.slice(0, 20_000) ?? null,
    }
  }
}

/** Like `compileHit`, for books. Throws Invalid. */
export function compileBookHit(
  { authors, isbns, publisher, ...common }: BookHitMapping,
  label: string,
): ReadBookHit {
  const readHit = compileHit(common, label)
  const own = compileFields(present({ authors, isbns, publisher }), label)
  return document => {
    const hit = readHit(document)
    if (hit === null) return null
    const texts = (name: string) => textsOf(own.get(name)?.(document))
    return {
      ...hit,
      authors: texts('authors').map(author => author.slice(0, 500)),
      isbns: [...new Set(texts('isbns').flatMap(text => isbn13(text) ?? []))],
      publisher: texts('publisher')[0]?.slice(0, 300) ?? null,
    }
  }
}

const present = (fields: Record<string, Field | undefined>) =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined)) as Record<
    string,
    Field
  >

/** Throws Invalid. */
export function compileBook(mapping: BookMapping, source: string, label: string): ReadBook {
  const read = compileSeries(mapping, source, label)
  return (document, externalId) => {
    const { ratings: _, ...book } = read(document, externalId)
    return book
  }
}

/** `source` names links and ratings. Throws Invalid. */
export function compileSeries(mapping: SeriesMapping, source: string, label: string): ReadSeries {
  const own = compileFields(
    present({ url: mapping.url, hash: mapping.hash, coverUrl: mapping.coverUrl }),
    label,
  )
  const metadata = compileFields(mapping.metadata, `${label}.metadata`)
  const ids = compileFields(mapping.externalIds, `${label}.externalIds`)
  const links = compileFields(mapping.links, `${label}.links`)
  const readRating = mapping.rating && compileRating(mapping.rating, `${label}.rating`)
  return (document, externalId) => {
    const first = (name: string) => textOf(own.get(name)?.(document)[0])
    const rating = readRating?.(document) ?? null
    return {
      externalId,
      url: webUrl(first('url')),
      hash: first('hash')?.slice(0, 200) ?? null,
      metadata: metadataIn(metadata, document),
      externalIds: namedTexts(ids, document)
        .filter(({ text }) => text.length <= 500)
        .map(({ name, text }) => ({ source: name, externalId: text, url: null })),
      links: namedTexts(links, document).flatMap(({ name, text }) => {
        const url = webUrl(text)
        return url === null ? [] : [{ source: name, url }]
      }),
      ratings: rating === null ? [] : [{ source, ...rating }],
      coverUrl: webUrl(first('coverUrl')),
    }
  }
}

function compileRating(mapping: NonNullable<SeriesMapping['rating']>, label: string) {
  const { maximum = 100 } = mapping
  const readValue = compileField(mapping.value, `${label}.value`)
  const readVotes =
    mapping.votes === undefined ? null : compileField(mapping.votes, `${label}.votes`)
  return (document: unknown) => {
    const value = numberOf(textOf(readValue(document)[0]))
    const votes = integerOf(textOf(readVotes?.(document)[0]))
    if (value === null || value < 0 || value > maximum) return null
    return { rating: (100 * value) / maximum, votes: votes !== null && votes >= 0 ? votes : null }
  }
}

/** `authors.illustrator` names authors with another role. */
function metadataIn(fields: Map<string, ReadField>, document: unknown): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [name, read] of fields) {
    const value = metadataValue(name, read(document))
    if (value === null) continue
    const [field = name] = name.split('.', 1)
    const before = found[field]
    found[field] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
  }
  return found
}

function metadataValue(name: string, values: unknown[]): unknown {
  const texts = textsOf(values)
  const [first] = texts
  if (first === undefined) return null
  if (listFields.has(name)) return [...new Set(texts)]
  if (name === 'authors' || name.startsWith('authors.')) {
    const [, role = 'author'] = name.split('.')
    return [...new Set(texts)].map(author => ({ name: author, role }))
  }
  if (name === 'alternateTitles') return texts.map(title => ({ label: 'Alternate', title }))
  if (numberFields.has(name)) return numberOf(first)
  return name === 'summary' ? (htmlToMultiLine(first) ?? null) : first
}

const namedTexts = (fields: Map<string, ReadField>, document: unknown) =>
  [...fields].flatMap(([name, read]) => {
    const text = textOf(read(document)[0])
    return text === null ? [] : [{ name, text }]
  })

function textOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

const textsOf = (values: unknown[] | undefined): string[] =>
  ((values ?? []).flat() as unknown[]).flatMap(value => textOf(value) ?? []).slice(0, maxValues)

function numberOf(text: string | null): number | null {
  const number = text === null ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : null
}

function integerOf(text: string | null): number | null {
  const number = numberOf(text)
  return number !== null && Number.isSafeInteger(number) ? number : null
}

const webUrl = (text: string | null) =>
  text !== null && text.length <= 4000 && /^https?:\/\/[^\s/?#]/.test(text) ? text : null
