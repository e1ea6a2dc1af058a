// Releases from JSON documents, by a mapping of fields; unmapped fields are read from the title.

import { maybe, type Static, strict } from '../../base/schema.ts'
import { canonicalLanguage } from '../../media/metadata/language.ts'
import { parseReleaseTitle } from '../../media/name/release-title.ts'
import type { ReleaseItem } from '../contract.ts'
import { releaseDate } from '../release-date.ts'
import { compileFields, Field } from './fields.ts'

export const ReleaseMapping = strict({
  id: Field,
  title: Field,
  url: Field,
  mediaUrl: maybe(Field),
  infoHash: maybe(Field),
  group: maybe(Field),
  language: maybe(Field),
  releasedAt: maybe(Field),
  chapter: maybe(Field),
  volume: maybe(Field),
  seriesTitles: maybe(Field),
  seriesId: maybe(Field),
})
type ReleaseMapping = Static<typeof ReleaseMapping>

/** The release in a document; null if it has no id, title or URL. */
export type ReadRelease = (document: unknown) => ReleaseItem | null

type Options = { source: string; language: string | undefined; label: string }

/** `source` is the service of the ids in `seriesId`; `language` applies to releases that state none. Throws Invalid. */
export function compileRelease(
  mapping: ReleaseMapping,
  { source, language, label }: Options,
): ReadRelease {
  const fields = compileFields(mapping as Record<string, Field>, label)
  return document => {
    const texts = (name: string) =>
      (fields.get(name)?.(document) ?? []).flat().flatMap(value => textOf(value) ?? [])
    const first = (name: string) => texts(name)[0]
    const [id, title, url] = [first('id'), first('title'), first('url')]
    if (!id || !title || !url || !isWebUrl(url) || id.length > 1000) return null
    const parsed = parseReleaseTitle(title)
    const media = first('mediaUrl')
    const kind = media === undefined ? null : mediaKind(media)
    const seriesId = first('seriesId')
    const titles = texts('seriesTitles')
    const tag = first('language') ?? parsed.language ?? language
    return {
      externalReleaseId: id,
      title: title.slice(0, 1000),
      payloadUrl: url,
      mediaUrl: kind === null ? null : media!,
      mediaUrlKind: kind,
      infoHash: first('infoHash')?.toLowerCase().slice(0, 100) ?? null,
      groupOrUploader: (first('group') ?? parsed.group)?.slice(0, 300) ?? null,
      language: tag === undefined ? null : canonicalLanguage(tag),
      chapters: spansOf(texts('chapter')) ?? parsed.chapters,
      volumes: spansOf(texts('volume')) ?? parsed.volumes,
      formatHints: parsed.hints,
      metadata: {},
      seriesTitles: (titles.length > 0 ? titles : parsed.titles).map(text => text.slice(0, 1000)),
      seriesIds: seriesId === undefined ? {} : { [source]: seriesId.slice(0, 500) },
      releasedAt: dateOf(first('releasedAt')),
    }
  }
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

const isWebUrl = (url: string) => url.length <= 4000 && /^https?:\/\/[^\s/?#]/.test(url)

function mediaKind(url: string): 'magnet' | 'torrent' | 'direct' | null {
  if (url.length <= 4000 && /^magnet:\?/.test(url)) return 'magnet'
  if (!isWebUrl(url)) return null
  return /\.torrent(?:[?#]|$)/i.test(url) ? 'torrent' : 'direct'
}

/** Parses `12`, `12.5` or `1-6`; null if there is none. */
function spansOf(texts: string[]): { start: number; end: number }[] | null {
  const spans = texts.flatMap(text => {
    const [, start, end = start] =
      /^(\d{1,6}(?:\.\d+)?)(?:\s*[-–]\s*(\d{1,6}(?:\.\d+)?))?$/.exec(text) ?? []
    return start === undefined ? [] : [{ start: Number(start), end: Number(end) }]
  })
  return spans.length === 0 ? null : spans
}

/** RFC 3339 from text, or from seconds or milliseconds since 1970. */
function dateOf(text: string | undefined): string | null {
  if (text === undefined) return null
  const number = /^\d{9,13}$/.test(text) ? Number(text) : null
  return releaseDate(number === null ? text : number < 1e11 ? number * 1000 : number)
}
