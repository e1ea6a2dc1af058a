// A book in the few lines that reading apps show of it: they take all of them from `content`.
import { aboutOf } from '../about.ts'
import type { Publication } from '../publication.ts'

/** HTML: what the file is, why it cannot be read, then the summary, which is plain text, line by line. */
export function description(book: Publication): string {
  const about = aboutOf(book)?.trim() || null
  const lines = [factsOf(book), ...(about?.split(/\r\n?|\n/) ?? [])]
  return lines.map(escaped).join('<br/>')
}

const factsOf = ({ format, fileSize, pageCount }: Publication) =>
  [
    ...(format === null ? [] : [format.toUpperCase()]),
    sizeOf(fileSize),
    ...(pageCount > 0 ? [pagesOf(pageCount)] : []),
  ].join(', ')

export const pagesOf = (count: number): string => (count === 1 ? '1 page' : `${count} pages`)

const units = ['KiB', 'MiB', 'GiB', 'TiB']

function sizeOf(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length)
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`
}

// By number: Foliate replaces `&lt;`, `&gt;` and `&amp;` in what it has decoded already, and would make
// tags of the text.
const escaped = (text: string) => text.replace(/[&<>"]/g, found => `&#${found.charCodeAt(0)};`)
