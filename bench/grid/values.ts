// Values of filter fields drawn from the catalog: absent, rare, middling and frequent ones, parts of
// texts, and points of numbers and dates.
import type { FieldKind } from '../../lib/list/fields.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'

/** `levels` maps a name such as `rare` to a value of the field. */
export type FieldValues = {
  whole: Record<string, string>
  beginning: Record<string, string>
  end: Record<string, string>
  part: Record<string, string>
  points: { low: string; common: string; middle: string; later: string; high: string; top: string }
}
export type Entity = 'book' | 'series'

// Fields that are not named like their columns: the value and the rows it is read from.
const sources: Record<Entity, Record<string, [value: string, from: string]>> = {
  book: {
    genre: ['unnest(genres)', 'series'],
    tag: ['unnest(tags)', 'series'],
    titleSort: ['coalesce(title_sort, title)', 'book'],
    path: [
      `convert_from((select path from directory where id = directory_id) || '/'::bytea || name, 'UTF8')`,
      'book',
    ],
    bookType: [`extra_metadata->>'bookType'`, 'book'],
    ...{ dateAdded: ['created_at', 'book'], addedAt: ['created_at', 'book'] },
    releaseDate: [`make_timestamptz(year, coalesce(month, 1), 1, 0, 0, 0, 'UTC')`, 'book'],
    lastReadAt: ['updated_at', 'progress'],
    userRating: ['rating', 'user_rating'],
  },
  series: {
    genre: ['unnest(genres)', 'series'],
    tag: ['unnest(tags)', 'series'],
    titleSort: ['coalesce(title_sort, title)', 'series'],
    path: ['folder', 'series'],
    author: [`jsonb_array_elements(authors)->>'name'`, 'series'],
    ...{ dateAdded: ['created_at', 'series'], addedAt: ['created_at', 'series'] },
    releaseDate: [`make_timestamptz(year, 1, 1, 0, 0, 0, 'UTC')`, 'series'],
    lastReadAt: ['last_read_at', 'series_reading'],
    userRating: ['rating', 'user_rating'],
    communityRating: ['rating', 'user_rating'],
    ...{ format: ['format', 'book'], hasError: ['true', 'series'], hasMissing: ['true', 'series'] },
    sharingTag: ['name', 'sharing_tag'],
  },
}
const sampleRows = 20_000
const absentWord = 'qzxvj'
const absentId = '00000000-0000-7000-8000-000000000000'

/** From a sample of the rows; without a value of the field from words of its kind. */
export async function valuesOf(
  sql: Sql,
  entity: Entity,
  field: string,
  kind: FieldKind,
): Promise<FieldValues> {
  const source = sources[entity][field] ?? (await columnSource(sql, entity, field))
  const values = source ? await sampleOf(sql, source) : []
  return { ...textValues(values.map(String), kind), points: pointsOf(values) }
}

async function columnSource(sql: Sql, entity: Entity, field: string) {
  const column = field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  const [row] = await sql`
    select from information_schema.columns where table_name = ${entity} and column_name = ${column}`
  return row ? ([column, entity] as [string, string]) : null
}

type Value = string | number | Date

async function sampleOf(sql: Sql, [value, table]: [string, string]): Promise<Value[]> {
  const [size] = await sql<{ rows: number }[]>`
    select reltuples::float8 as rows from pg_class where oid = ${table}::regclass`
  const percent = Math.min(100, (100 * sampleRows) / Math.max(size!.rows, 1))
  const rows = await sql.unsafe<{ v: Value | null }[]>(
    `select ${value} as v from ${table} tablesample system (${percent}) repeatable (1)`,
  )
  return rows.flatMap(({ v }) => (v === null || v === '' ? [] : [v]))
}

const shorten = (text: string) => [...text].slice(0, 400).join('')

function textValues(sample: string[], kind: FieldKind): Omit<FieldValues, 'points'> {
  const ranked = byFrequency(sample)
  const [frequent, middling, rare] = [
    ranked[0],
    ranked[Math.floor(ranked.length / 2)],
    ranked.at(-1),
  ].map(text => shorten(text ?? 'the')) as [string, string, string]
  const absent = kind === 'id' ? absentId : absentWord
  const words = (text: string) => text.split(/[^\p{L}\p{N}]+/u).filter(word => word !== '')
  const longest = words(middling).toSorted((a, b) => b.length - a.length)[0] ?? middling
  const letters = (text: string, from: number, to?: number) => [...text].slice(from, to).join('')
  const mostCommon = (texts: string[]) =>
    byFrequency(texts.map(text => text.toLowerCase()))[0] ?? 'the'
  const short = letters(longest, 0, 2)
  const whole = { absent, rare, middling, frequent, short }
  return {
    whole,
    part: {
      absent,
      rare,
      middling: longest,
      frequent: mostCommon(sample.flatMap(words)),
      short,
      strange: 'xq',
    },
    beginning: {
      absent,
      rare,
      middling: letters(middling, 0, 4),
      frequent: mostCommon(sample.map(text => words(text)[0] ?? text)),
      short: letters(middling, 0, 2),
    },
    end: {
      absent,
      rare,
      middling: letters(middling, -4),
      frequent: mostCommon(sample.map(text => words(text).at(-1) ?? text)),
      short: letters(middling, -2),
    },
  }
}

/** The values, the most frequent first. */
function byFrequency(texts: string[]): string[] {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([text]) => text)
}

function pointsOf(values: Value[]): FieldValues['points'] {
  const points = values.map(value => (value instanceof Date ? value.toISOString() : value))
  const sorted = points.toSorted((a, b) => (a < b ? -1 : 1)).map(String)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]
  if (sorted.length === 0)
    return { low: '0', common: '1', middle: '50', later: '60', high: '1000', top: '2000' }
  const [low, middle, later, high, top] = [0, 0.5, 0.6, 0.99, 1].map(share => at(share)!)
  return { low, common: byFrequency(sorted)[0]!, middle, later, high, top } as FieldValues['points']
}
