// Metadata documents of a comic archive: ComicInfo.xml, then MetronInfo.xml.
import { Unreadable } from '../../../base/errors.ts'
import type { Container, Entry } from '../../archive/container.ts'
import type { Limits } from '../../archive/limits.ts'
import { parseComicInfo } from '../../metadata/comicinfo.ts'
import type { SourceReading } from '../../metadata/metadata.ts'
import { parseMetronInfo } from '../../metadata/metroninfo.ts'
import { isSystemFile } from './page-name.ts'

const documents = [
  { name: 'ComicInfo.xml', source: 'comicinfo', parse: parseComicInfo },
  { name: 'MetronInfo.xml', source: 'metroninfo', parse: parseMetronInfo },
] as const

/** Reads the documents that exist; an unreadable one adds a warning. */
export async function comicMetadata(
  container: Container,
  limits: Limits,
): Promise<SourceReading[]> {
  const readings: SourceReading[] = []
  for (const { name, source, parse } of documents) {
    const entry = nearestRoot(container.entries, name)
    if (entry === null) continue
    try {
      readings.push(parse(await container.read(entry, limits.metadataBytes)))
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      readings.push({ source, metadata: {}, warnings: [`${name}: ${error.message}`] })
    }
  }
  return readings
}

/** Index of the page that ComicInfo marks as front cover; null without one. */
export async function frontCoverOf(container: Container, limits: Limits): Promise<number | null> {
  const entry = nearestRoot(container.entries, 'ComicInfo.xml')
  if (entry === null) return null
  try {
    const { metadata } = parseComicInfo(await container.read(entry, limits.metadataBytes))
    const fronts = (metadata.pageNotes ?? []).filter(({ type }) => type === 'FrontCover')
    return fronts.length === 0 ? null : Math.min(...fronts.map(({ image }) => image))
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}

// Taggers write it at the root; in an archive of a folder it is one level down.
function nearestRoot(entries: readonly Entry[], name: string): Entry | null {
  const ending = name.toLowerCase()
  let nearest: Entry | null = null
  let depth = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    if (entry.name.length < ending.length || !entry.name.toLowerCase().endsWith(ending)) continue
    const before = entry.name.slice(0, -ending.length)
    if ((before !== '' && !before.endsWith('/')) || isSystemFile(entry.name)) continue
    const parts = before.split('/').length
    if (parts < depth) {
      nearest = entry
      depth = parts
    }
  }
  return nearest
}
