// Files beside the books that speak for them: metadata.opf and <name>.opf for a book, series.json for
// its series. Read once a folder and slice, because all books of a folder ask for the same.
import { Unreadable } from '../../lib/errors.ts'
import { openFile } from '../../lib/file.ts'
import type { SourceReading } from '../../lib/metadata/metadata.ts'
import { parseOpfSidecar } from '../../lib/metadata/opf.ts'
import { parseSeriesJson } from '../../lib/metadata/series-json.ts'
import type { FileToRead, Reading, ReadingRules } from './reading.ts'

/** `metadata.opf` counts for a book alone in its folder, and always in a Calibre library, where every book has its own. */
export function readSidecars(
  item: FileToRead,
  rules: ReadingRules,
  into: Reading,
): SourceReading[] {
  if (item.sidecars.length === 0) return []
  const fileName = item.relative.slice(item.relative.lastIndexOf('/') + 1)
  const stem = fileName.slice(0, fileName.lastIndexOf('.')).toLowerCase()
  const owned = item.alone || rules.seriesStrategy === 'calibre'
  const readings: SourceReading[] = []
  for (const name of item.sidecars) {
    const lower = name.toLowerCase()
    const isOpf = lower === `${stem}.opf` || (lower === 'metadata.opf' && owned)
    if (!isOpf && lower !== 'series.json') continue
    const bytes = readBeside(item, name, rules.limits.metadataBytes, into)
    if (bytes) readings.push(isOpf ? parseOpfSidecar(bytes) : parseSeriesJson(bytes))
  }
  return readings
}

function readBeside(item: FileToRead, name: string, most: number, into: Reading) {
  try {
    const folder = item.path.slice(0, item.path.lastIndexOf('/') + 1)
    using file = openFile(Buffer.concat([Buffer.from(folder, 'latin1'), Buffer.from(name)]))
    into.opens++
    const bytes = file.size <= most ? file.read(0, file.size) : null
    into.bytesRead += file.bytesRead
    return bytes
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
