// The metadata documents of a comic archive: ComicInfo.xml first, then MetronInfo.xml.

import type { Container, Entry } from '../../archive/container.ts'
import { Unreadable } from '../../errors.ts'
import { parseComicInfo } from '../../metadata/comicinfo.ts'
import type { SourceReading } from '../../metadata/metadata.ts'
import { parseMetronInfo } from '../../metadata/metroninfo.ts'
import type { Limits } from '../contract.ts'
import { isLeftover } from './page-name.ts'

const documents = [
  { name: 'ComicInfo.xml', source: 'comicinfo', parse: parseComicInfo },
  { name: 'MetronInfo.xml', source: 'metroninfo', parse: parseMetronInfo },
] as const

/** Reads what is there; a document that cannot be read gives a warning. */
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

// Tools write it at the root; archives of a folder hold it one level down.
function nearestRoot(entries: readonly Entry[], name: string): Entry | null {
  const ending = name.toLowerCase()
  let found: Entry | null = null
  let depth = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    if (entry.name.length < ending.length || !entry.name.toLowerCase().endsWith(ending)) continue
    const before = entry.name.slice(0, -ending.length)
    if ((before !== '' && !before.endsWith('/')) || isLeftover(entry.name)) continue
    const parts = before.split('/').length
    if (parts < depth) {
      found = entry
      depth = parts
    }
  }
  return found
}
