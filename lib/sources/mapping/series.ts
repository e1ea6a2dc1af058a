// Series from JSON documents: search hits and metadata, by a mapping of fields.
import { maybe, type Static, strict, Type } from '../../base/schema.ts'
import { htmlToMultiLine } from '../../media/metadata/html.ts'
import { matchKey } from '../../media/name/text.ts'
import type { FetchedSeries, SeriesHit } from '../contract.ts'
import { compileField, compileFields, Field, Fields, type ReadField } from './fields.ts'

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

const listFields = new Set(['genres', 'tags'])
const numberFields = new Set(['year', 'ageRating', 'totalVolumeCount', 'totalChapterCount'])
const maxValues = 500

/** The hit in a document without its relevance; null if it has no id or title. */
export type ReadHit = (document: unknown) => Omit<SeriesHit, 'relevance'> | null
/** What a document states about a series. */
export type ReadSeries = (document: unknown, externalId: string) => FetchedSeries

export function withRelevance(hit: Omit<SeriesHit, 'relevance'>, query: string): SeriesHit {
  return { ...hit, relevance: relevanceOf(query, [hit.title, ...hit.alternateTitles]) }
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

/** `source` names links and ratings. Throws Invalid. */
export function compileSeries(mapping: SeriesMapping, source: string, label: string): ReadSeries {
  const own = compileFields(
    Object.fromEntries(
      Object.entries({ url: mapping.url, hash: mapping.hash, coverUrl: mapping.coverUrl }).filter(
        ([, field]) => field !== undefined,
      ),
    ) as Record<string, Field>,
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

const maxLength = 300

/** 1 for titles that differ only in case, accents and punctuation; of several titles the best counts. */
export function relevanceOf(query: string, titles: readonly string[]): number {
  const wanted = keyOf(query)
  if (wanted === '') return 0
  const best = titles.reduce((most, title) => Math.max(most, similarity(wanted, keyOf(title))), 0)
  return Math.round(best * 1000) / 1000
}

const keyOf = (title: string) => matchKey(title.slice(0, maxLength))

/** Dice coefficient of character pairs. */
function similarity(a: string, b: string): number {
  if (a === b) return 1
  const [first, second] = [pairsOf(a), pairsOf(b)]
  if (first.length === 0 || second.length === 0) return 0
  const counts = new Map<string, number>()
  for (const pair of first) counts.set(pair, (counts.get(pair) ?? 0) + 1)
  let common = 0
  for (const pair of second) {
    const count = counts.get(pair) ?? 0
    if (count === 0) continue
    counts.set(pair, count - 1)
    common++
  }
  // Only equality is certain.
  return Math.min(0.99, (2 * common) / (first.length + second.length))
}

function pairsOf(text: string): string[] {
  const characters = [...text]
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`)
}
