// Checks what sources return against the contract.
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { list, type Static } from '../base/schema.ts'
import {
  BookHit,
  FetchedBook,
  FetchedSeries,
  type ReleaseItem,
  ReleasePage,
  SeriesHit,
  type Source,
  SourceDescription,
} from './contract.ts'
import { SourceFailure } from './failure.ts'
import { releaseDate } from './release-date.ts'

const maxDepth = 30
const maxHits = 100
const SeriesHits = list(SeriesHit, { maxItems: maxHits })
const fetchedSchemas = { series: FetchedSeries, book: FetchedBook } as const
const BookHits = list(BookHit, { maxItems: maxHits })

// Compiled on first use, because most servers have no sources.
const compiled = new WeakMap<TSchema, Validator>()

/** The source with all of its answers checked; throws SourceFailure `invalid` for answers that do not conform. */
export function checkedSource(source: Source): Source {
  const { searchSeries, fetchSeries, searchBooks, fetchBook, listReleases } = source
  return {
    describe: async call => checkAnswer(SourceDescription, await source.describe(call)),
    ...(searchSeries && {
      searchSeries: async (query, call) =>
        bestOf(checkAnswer(SeriesHits, await searchSeries(query, call)), query.limit),
    }),
    ...(fetchSeries && {
      fetchSeries: async (externalId, call) =>
        checkFetched('series', await fetchSeries(externalId, call), externalId),
    }),
    ...(searchBooks && {
      searchBooks: async (query, call) =>
        bestOf(checkAnswer(BookHits, await searchBooks(query, call)), query.limit),
    }),
    ...(fetchBook && {
      fetchBook: async (externalId, call) =>
        checkFetched('book', await fetchBook(externalId, call), externalId),
    }),
    ...(listReleases && {
      async listReleases(query, call) {
        const page = checkAnswer(ReleasePage, await listReleases(query, call))
        return { ...page, items: page.items.map(withDate) }
      },
    }),
  }
}

const bestOf = <T extends { relevance: number }>(hits: T[], limit: number) =>
  hits.sort((a, b) => b.relevance - a.relevance).slice(0, limit)

/** Null for null. Throws SourceFailure. */
function checkFetched<K extends keyof typeof fetchedSchemas>(
  kind: K,
  answer: unknown,
  externalId: string,
): Static<(typeof fetchedSchemas)[K]> | null {
  if (answer === null) return null
  const fetched = checkAnswer(fetchedSchemas[kind], answer)
  if (fetched.externalId === externalId) return fetched
  throw new SourceFailure(`The source returned a different ${kind}`, 'invalid')
}

/** Throws SourceFailure. 24:00, some leap days and wide offsets are dates for JavaScript, but not for PostgreSQL. */
function withDate(item: ReleaseItem): ReleaseItem {
  if (item.releasedAt === null) return item
  const releasedAt = releaseDate(item.releasedAt)
  if (releasedAt === null) throw new SourceFailure('The source returned an invalid date', 'invalid')
  return { ...item, releasedAt }
}

function validatorOf(schema: TSchema): Validator {
  const validator = compiled.get(schema) ?? Compile(schema)
  compiled.set(schema, validator)
  return validator
}

/** Null if it does not conform. */
export function tryAnswer<T extends TSchema>(schema: T, answer: unknown): Static<T> | null {
  return validatorOf(schema).Check(answer) ? (answer as Static<T>) : null
}

/** Throws SourceFailure that names the location of the first problem, without its value. */
export function checkAnswer<T extends TSchema>(schema: T, answer: unknown): Static<T> {
  const validator = validatorOf(schema)
  const value = storable(answer, 0)
  if (validator.Check(value)) return value as Static<T>
  const [, [error]] = validator.Errors(value)
  const place = error?.instancePath.slice(1).replaceAll('/', '.').slice(0, 200) || 'value'
  throw new SourceFailure(
    `The source returned an invalid answer: ${place} ${error?.message ?? ''}`.trim(),
    'invalid',
  )
}

/** A copy of a JSON value that PostgreSQL can store: no NUL, no lone surrogates, limited depth. */
function storable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth)
    throw new SourceFailure('The source returned a value that is nested too deeply', 'invalid')
  if (Array.isArray(value)) return value.map(member => storable(member, depth + 1))
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [storable(key, depth), storable(member, depth + 1)])
  return Object.fromEntries(members)
}
