// Reads a book's path: what the file name does not tell, its folders may.
import { type ParsedName, parseFilename } from './filename.ts'
import { matchKey } from './normalise.ts'

/**
 * `path` is relative to the library, with `/` separators; its last part is a file name without the
 * extension. Folders fill series, volume and year, the nearest first, as long as they speak of the
 * same series: `Venom (2021)/Venom #1` tells a year, `Sale 2020/Venom #1` does not.
 */
export function parsePath(path: string): ParsedName {
  const parts = path.split('/').filter(part => part !== '')
  const parsed = parseFilename(parts.at(-1) ?? '')
  for (const part of parts.slice(0, -1).slice(-8).reverse()) {
    const folder = parseFilename(part)
    const agrees = folder.series === null || parsed.series === null
    if (!agrees && sameKey(folder.series) !== sameKey(parsed.series)) continue
    parsed.series ??= folder.series
    parsed.volume ??= folder.volume
    parsed.year ??= folder.year
  }
  return parsed
}

// `Batman-Annual` and `Batman Annual` are the same.
function sameKey(series: string | null): string {
  return matchKey(series ?? '').replaceAll(' ', '')
}
