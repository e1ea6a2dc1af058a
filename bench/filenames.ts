// Accuracy of the file-name parser: rows of peers' own test tables, right on every field the row states; rows of
// Stackroom's own by convention; generated names.
//
// Where the tables disagree, Stackroom's convention, and what is compared instead:
// - `number` is the issue, the chapter or the plain number. A volume is not a number; comictagger,
//   comicfn2dict and codex take it for one when there is no other, so there the volume stands in.
// - Ranges stay ranges (`1-6`) in text, numeric fields take their start. Mihon's `191.200` is not one.
// - `4.extra`, `19a`, `78.BEY` stay as written; Mihon's decimals are compared with what they sort by.
// - The series keeps its hyphens; Kapowarr writes spaces, so both are compared with spaces.
// - An unknown volume is unknown (Kapowarr: 1), a book without a number is no `tpb` by itself
//   (Kapowarr: it is); its paths are read with their folders, pages by their folder alone.
// - The first year in brackets is the year, before any full date. A date's file beats its folder.
// - `special` is `SPN` for Kavita, the form (annual, one-shot, hard-cover…) for all others.
// - 장 is a chapter (Kavita: a volume), the first of two `#` ranges counts (Kapowarr: the last).
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { stemOf } from '../lib/media/format/formats.ts'
import { type ParsedName, parseFilename } from '../lib/media/name/filename.ts'
import { sortNumber } from '../lib/media/name/number.ts'
import { matchKey } from '../lib/media/name/text.ts'
import { numberInName } from '../lib/media/strategy/number.ts'
import { placeBook } from '../lib/media/strategy/series.ts'
import { createRandom } from '../test/kit/random.ts'
import { generateName } from '../test/media/name/generate.ts'
import { requireShared } from './kit/shared.ts'

const fields = [
  'series',
  'volume',
  'number',
  'title',
  'year',
  'count',
  'special',
  'edition',
] as const
type Field = (typeof fields)[number]
type Row = Record<Field | 'source' | 'mode' | 'input' | 'context', string>
const ownFields = ['series', 'volume', 'number', 'title', 'year', 'count', 'form'] as const
const generatedFields = ['series', 'volume', 'number', 'title', 'year', 'count'] as const
type OwnRow = Record<(typeof ownFields)[number] | 'convention' | 'input' | 'also', string>
type Reading = Partial<Record<Field, string | number | null>>

export type Score = { right: number; rows: number }
export type Scores = {
  sources: Map<string, Score>
  fields: Map<string, Score>
  misses: string[]
  inputs: string[]
}

/** Scores every row of the table at `path`. */
export function scoreNames(path: string): Scores {
  const scores: Scores = { sources: new Map(), fields: new Map(), misses: [], inputs: [] }
  for (const row of readRows(path)) {
    const got = readAs(row)
    const wrong = fields.filter(field => {
      if (row[field] === '') return false
      const isRight =
        fold(row[field] === '(none)' ? '' : row[field]) === fold(String(got[field] ?? ''))
      count(scores.fields, field, isRight)
      return !isRight
    })
    count(scores.sources, row.source, wrong.length === 0)
    scores.inputs.push(row.input)
    for (const field of wrong) {
      scores.misses.push(`${row.source}: ${row.input}: ${field} ${row[field]}, read ${got[field]}`)
    }
  }
  return scores
}

/**
 * Scores the table of conventions at `path`, each convention as a source. Stricter than the tables of peers: an empty
 * cell states that the field is absent, `*` states nothing; `also` has further fields as `name=value;name=value`.
 */
export function scoreConventions(path: string): Scores {
  const scores: Scores = { sources: new Map(), fields: new Map(), misses: [], inputs: [] }
  for (const row of readRows<OwnRow>(path)) {
    const parsed = parseFilename(row.input)
    const got: Record<string, unknown> = {
      ...parsed,
      ...readingOf(parsed),
      special: parsed.special,
    }
    const stated = ownFields.map(field => [field, row[field]])
    const further = row.also.split(';').map(pair => pair.split('='))
    const wrong = [...stated, ...further].filter(([field = '', value = '']) => {
      if (field === '' || value === '*') return false
      const isRight = String(got[field] ?? '') === value
      count(scores.fields, field, isRight)
      return !isRight
    })
    count(scores.sources, row.convention, wrong.length === 0)
    scores.inputs.push(row.input)
    for (const [field = '', value] of wrong) {
      scores.misses.push(`${row.convention}: ${row.input}: ${field} ${value}, read ${got[field]}`)
    }
  }
  return scores
}

const conventions = join(import.meta.dirname, '..', 'test', 'name', 'conventions.tsv')

/** Scores names generated at random, each convention and language as a source. */
export function scoreGenerated({ seed, names }: { seed: number; names: number }): Scores {
  const scores: Scores = { sources: new Map(), fields: new Map(), misses: [], inputs: [] }
  const random = createRandom(seed)
  for (let i = 0; i < names; i++) {
    const name = generateName(random)
    const got = readingOf(parseFilename(name.input))
    const wrong = generatedFields.filter(field => {
      const isRight = String(got[field] ?? '') === name[field]
      count(scores.fields, field, isRight)
      return !isRight
    })
    count(scores.sources, name.convention, wrong.length === 0)
    scores.inputs.push(name.input)
    for (const field of wrong) {
      scores.misses.push(
        `${name.convention}: ${name.input}: ${field} ${name[field]}, read ${got[field]}`,
      )
    }
  }
  return scores
}

/** Prints the scores, the misses and names per second. */
export async function run(): Promise<void> {
  const known = scoreNames(requireShared('corpus/filename-tables/unified.tsv'))
  const own = scoreConventions(conventions)
  const generated = scoreGenerated({ seed: Date.now() % 100_000, names: 10_000 })
  const all = { known, own, generated }
  const lines = Object.entries(all).flatMap(([title, { sources, fields }]) => [
    line(title, total(sources)),
    ...[...sources, ...fields].map(([name, score]) => line(`  ${name}`, score)),
  ])
  const stems = [known, own, generated].flatMap(({ inputs }) => inputs.map(stemOf))
  const started = performance.now()
  let read = 0
  while (performance.now() - started < 1_000) {
    for (const stem of stems) parseFilename(stem)
    read += stems.length
  }
  lines.push(`${Math.round((1_000 * read) / (performance.now() - started))} names/s`)
  const misses = [known, own, generated].flatMap(scores => scores.misses.slice(0, 200))
  process.stdout.write(`${[...lines, '', 'misses', ...misses].join('\n')}\n`)
}

function line(name: string, { right, rows }: Score): string {
  return `${name.padEnd(28)} ${String(right).padStart(4)}/${rows}  ${((100 * right) / rows).toFixed(1)} %`
}

/** The sum over all sources. */
export function total(scores: Map<string, Score>): Score {
  return [...scores.values()].reduce((sum, { right, rows }) => ({
    right: sum.right + right,
    rows: sum.rows + rows,
  }))
}

function readRows<R = Row>(path: string): R[] {
  const [head = '', ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n')
  const columns = head.split('\t')
  return lines.map(line => {
    const cells = line.split('\t')
    return Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ''])) as R
  })
}

function readAs(row: Row): Reading {
  const stem = stemOf(row.input)
  if (row.source.startsWith('codex')) return readAsCodex(row)
  if (row.source === 'mihon') {
    const { number } = parseFilename(stem, { series: row.context })
    return { number: number === null ? null : sortNumber(number) }
  }
  if (row.source === 'kapowarr') return readAsKapowarr(row.input)
  const parsed = parseFilename(stem)
  const number = plain(parsed.number)
  if (row.source === 'kavita')
    return { ...readingOf(parsed), number, special: String(parsed.special !== null) }
  if (row.source === 'jellyfin-bookshelf') return { ...readingOf(parsed), number }
  return { ...readingOf(parsed), number: number ?? parsed.volume }
}

function readingOf(parsed: ParsedName): Reading {
  const { series, title, number, year, count, edition, form } = parsed
  const volume = parsed.volumeEnd === null ? parsed.volume : `${parsed.volume}-${parsed.volumeEnd}`
  return { series, title, number, year, count, edition, volume, special: form }
}

// Folders that name the same series supply what the file name does not have.
function withFolders(path: string): ParsedName {
  const parsed = { ...parseFilename(basename(path)) }
  for (const part of dirname(path).split('/').slice(-8).reverse()) {
    const folder = parseFilename(part)
    const [own, other] = [parsed.series, folder.series].map(name => matchKey(name ?? ''))
    if (own && other && own.replaceAll(' ', '') !== other.replaceAll(' ', '')) continue
    parsed.series ??= folder.series
    parsed.volume ??= folder.volume
    parsed.year ??= folder.year
  }
  return parsed
}

function readAsKapowarr(input: string): Reading {
  // A page or a sidecar: the folder is the book.
  const book = /\/[^/]+\.(?:jpe?g|png|json)$/i.test(input) ? dirname(input) : stemOf(input)
  const parsed = withFolders(book)
  const number = plain(parsed.number === '½' ? '0.5' : parsed.number)
  const series = parsed.series?.replace(/[-+:]/g, ' ').replace(/ {2,}/g, ' ') ?? null
  const special = parsed.form ?? (number === null ? 'tpb' : null)
  return { ...readingOf(parsed), series, number, special, volume: parsed.volume ?? 1 }
}

const codexCustom = {
  pattern: '^(?P<publisher>[^/]+)/(?P<series>[^/]+)/',
  seriesNameTemplate: '{publisher} - {series}',
}

function readAsCodex(row: Row): Reading {
  if (row.mode === 'volume and chapter') {
    const { volume, chapter } = parseFilename(stemOf(row.input))
    return { volume, number: chapter }
  }
  const strategy = row.mode.startsWith('series/') ? row.mode.slice(7) : 'flat'
  const path = row.input.replace(/^\/library\//, '')
  const { name } = placeBook(strategy, strategy === 'custom' ? codexCustom : {}, path)
  return { series: name, number: plain(numberInName(stemOf(row.input))) }
}

// `4.0-4.5` and `4-4.5` are the same range.
function plain(number: string | null): string | null {
  return number === null ? null : number.replace(/\.0(?![.\d])/g, '')
}

function fold(text: string): string {
  return text.normalize('NFD').toLowerCase().replace(/[’´]/g, "'").trim()
}

function count(into: Map<string, Score>, key: string, isRight: boolean) {
  const score = into.get(key) ?? { right: 0, rows: 0 }
  into.set(key, { right: score.right + Number(isRight), rows: score.rows + 1 })
}

if (import.meta.main) await run()
