// HTML description of a book for the `content` element, which apps display as a whole.
import { type Publication, summaryText } from '../publication.ts'

/** Format, size and pages, then the error of an unreadable file and the summary, line by line. */
export function description(book: Publication): string {
  const summary = summaryText(book)?.trim() || null
  const lines = [factsLine(book), ...(summary?.split(/\r\n?|\n/) ?? [])]
  return lines.map(escapeHtml).join('<br/>')
}

const factsLine = ({ format, fileSize, pageCount }: Publication) =>
  [
    ...(format === null ? [] : [format.toUpperCase()]),
    formatSize(fileSize),
    ...(pageCount > 0 ? [formatPageCount(pageCount)] : []),
  ].join(', ')

export const formatPageCount = (count: number): string =>
  count === 1 ? '1 page' : `${count} pages`

const units = ['KiB', 'MiB', 'GiB', 'TiB']

function formatSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length)
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`
}

// Numeric references: Foliate replaces `&lt;`, `&gt;` and `&amp;` in text that it has already decoded, which
// would turn the text into tags.
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, char => `&#${char.charCodeAt(0)};`)
