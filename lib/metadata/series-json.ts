// series.json, the sidecar Mylar writes beside the issues of a series.
//
//   { "version": …, "metadata": { "name", "publisher", "imprint", "year", "comicid", "status", "total_issues",
//     "description_text", "description_formatted", "age_rating", "booktype", … } }
// Older versions have the fields at the top; any of them may be null.
import { ageRating } from './age-rating.ts'
import { decodeText } from './decode.ts'
import { plainProse } from './html.ts'
import type { Metadata, SourceReading } from './metadata.ts'
import { integer, line, said } from './text.ts'

const mostBytes = 1024 * 1024

/** Never throws: a document that cannot be read gives warnings and no metadata. It speaks of the series. */
export function parseSeriesJson(bytes: Uint8Array): SourceReading {
  const reading = (metadata: Metadata, warnings: string[]): SourceReading => ({
    source: 'series_json',
    metadata,
    warnings,
  })
  if (bytes.length > mostBytes) return reading({}, ['series.json is too large'])
  const { text, warnings } = decodeText(bytes)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return reading({}, [...warnings, 'series.json is not JSON'])
  }
  const fields = objectOf(objectOf(parsed)?.metadata) ?? objectOf(parsed)
  if (fields === null) return reading({}, [...warnings, 'series.json holds no object'])
  const metadata = metadataOf(name => fieldOf(fields, name), warnings)
  return reading(metadata, warnings)
}

function metadataOf(value: (name: string) => string | undefined, warnings: string[]): Metadata {
  const whole = (name: string, most: number) => {
    const text = line(value(name))
    if (text === undefined) return undefined
    const number = integer(text)
    if (number === 0 || number === -1) return undefined
    if (number > 0 && number <= most) return number
    warnings.push(`series.json ${name} is not a number, left out`)
    return undefined
  }
  const comicId = /^(?:4050-)?(\d{1,12})$/.exec(line(value('comicid')) ?? '')?.[1]
  return said({
    series: line(value('name')),
    publisher: line(value('publisher')),
    imprint: line(value('imprint')),
    year: whole('year', 9999),
    count: whole('total_issues', 1_000_000),
    volume: whole('volume', 1_000_000),
    summary: plainProse(value('description_text')) ?? plainProse(value('description_formatted')),
    status: statusOf(line(value('status'))),
    format: line(value('booktype')),
    ageRating: ageRating(line(value('age_rating')) ?? '') ?? undefined,
    identifiers: comicId && [{ scheme: 'comicvine', value: comicId }],
    links: comicId && [
      {
        source: 'comicvine',
        url: `https://comicvine.gamespot.com/volume/4050-${comicId}/`,
        externalId: comicId,
      },
    ],
  } as Metadata)
}

function statusOf(text: string | undefined): Metadata['status'] {
  if (text === undefined) return undefined
  const word = text.toLowerCase()
  if (word.startsWith('continuing') || word === 'ongoing') return 'ongoing'
  if (word === 'ended' || word === 'completed') return 'ended'
  if (word === 'hiatus') return 'hiatus'
  return word === 'cancelled' || word === 'canceled' ? 'abandoned' : 'unknown'
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}

function fieldOf(fields: Record<string, unknown>, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (typeof value === 'string') return /^(?:none|null)$/i.test(value.trim()) ? undefined : value
  return typeof value === 'number' ? String(value) : undefined
}
