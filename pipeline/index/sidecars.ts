// Metadata files next to the books: metadata.opf and <name>.opf of a book, series.json of its series.
import { scoped } from '../../lib/base/async/dispose.ts'
import type { DiskAccess } from '../../lib/base/async/interleave.ts'
import { Unreadable } from '../../lib/base/errors.ts'
import { openLibraryFile } from '../../lib/base/file.ts'
import type { SourceReading } from '../../lib/media/metadata/metadata.ts'
import { parseOpfSidecar } from '../../lib/media/metadata/opf.ts'
import { parseSeriesJson } from '../../lib/media/metadata/series-json.ts'
import type { FileToRead, Reading, ReadOptions } from './reading.ts'

type SidecarOptions = ReadOptions & { disk: DiskAccess | null }

/**
 * `metadata.opf` applies to a book that is alone in its folder, and always in a Calibre library, where every
 * book has its own. Counts the bytes in `reading`.
 */
export async function readSidecars(
  item: FileToRead,
  options: SidecarOptions,
  reading: Reading,
): Promise<SourceReading[]> {
  if (item.sidecars.length === 0) return []
  const fileName = item.relative.slice(item.relative.lastIndexOf('/') + 1)
  const stem = fileName.slice(0, fileName.lastIndexOf('.')).toLowerCase()
  const ownsFolder = item.isAlone || options.seriesStrategy === 'calibre'
  const sources: SourceReading[] = []
  for (const name of item.sidecars) {
    const lower = name.toLowerCase()
    const isOpf = lower === `${stem}.opf` || (lower === 'metadata.opf' && ownsFolder)
    if (!isOpf && lower !== 'series.json') continue
    const bytes = await readSidecar(item, name, options, reading)
    if (bytes) sources.push(isOpf ? parseOpfSidecar(bytes) : parseSeriesJson(bytes))
  }
  return sources
}

async function readSidecar(
  item: FileToRead,
  name: string,
  { limits, containment, disk }: SidecarOptions,
  reading: Reading,
) {
  try {
    const folder = item.path.slice(0, item.path.lastIndexOf('/') + 1)
    const path = Buffer.concat([Buffer.from(folder, 'latin1'), Buffer.from(name)])
    return await scoped(async use => {
      const file = use(await openLibraryFile(path, containment, disk))
      reading.opens++
      if (file.size <= limits.metadataBytes)
        await file.preload?.([{ position: 0, length: file.size }])
      const bytes = file.size <= limits.metadataBytes ? file.read(0, file.size) : null
      reading.bytesRead += file.bytesRead
      return bytes
    })
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
