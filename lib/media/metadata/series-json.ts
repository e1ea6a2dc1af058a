// Parser for series.json, Mylar's sidecar in a series folder.
//
//   { "version": …, "metadata": { "name", "publisher", "imprint", "year", "comicid", "status", "total_issues",
//     "description_text", "description_formatted", "age_rating", "booktype", … } }
// Older versions have the fields at the top level; any field may be null.
import { ageRating } from './age-rating.ts'
import { decodeText } from './decode.ts'
import { htmlToMultiLine } from './html.ts'
import type { Metadata, SourceReading } from './metadata.ts'
import { omitUndefined, parseInteger, singleLine } from './text.ts'

const maxBytes = 1024 * 1024

/** Metadata of the series. Never throws: an unreadable document only yields warnings. */
export function parseSeriesJson(bytes: Uint8Array): SourceReading {
  const reading = (metadata: Metadata, warnings: string[]): SourceReading => ({
    source: 'series_json',
    metadata,
    warnings,
  })
  if (bytes.length > maxBytes) return reading({}, ['series.json is too large'])
  const { text, warnings } = decodeText(bytes)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return reading({}, [...warnings, 'series.json is not JSON'])
  }
  const fields = objectOf(objectOf(parsed)?.metadata) ?? objectOf(parsed)
  if (fields === null) return reading({}, [...warnings, 'series.json does not contain an object'])
  const metadata = metadataOf(name => fieldOf(fields, name), warnings)
  return reading(metadata, warnings)
}

function metadataOf(value: (name: string) => string | undefined, warnings: string[]): Metadata {
  const integerField = (name: string, max: number) => {
    const text = singleLine(value(name))
    if (text === undefined) return undefined
    const number = parseInteger(text)
    if (number === 0 || number === -1) return undefined
    if (number > 0 && number <= max) return number
    warnings.push(`series.json ${name} is not a number, ignored`)
    return undefined
  }
  const comicId = /^(?:4050-)?(\d{1,12})$/.exec(singleLine(value('comicid')) ?? '')?.[1]
  return omitUndefined({
    series: singleLine(value('name')),
    publisher: singleLine(value('publisher')),
    imprint: singleLine(value('imprint')),
    year: integerField('year', 9999),
    totalChapterCount: integerField('total_issues', 1_000_000),
    volume: integerField('volume', 1_000_000),
    summary:
      htmlToMultiLine(value('description_text')) ?? htmlToMultiLine(value('description_formatted')),
    status: statusOf(singleLine(value('status'))),
    format: singleLine(value('booktype')),
    ageRating: ageRating(singleLine(value('age_rating')) ?? '') ?? undefined,
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
