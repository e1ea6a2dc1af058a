// Reads one file in a thread: fingerprint, pages, metadata from every source, place in a series.
// One open; what comes back is ready to be stored.
import { hash } from 'node:crypto'
import { Unreadable } from '../../lib/errors.ts'
import { openFile } from '../../lib/file.ts'
import { fingerprint } from '../../lib/fingerprint.ts'
import type { Opened } from '../../lib/format/contract.ts'
import type { OpenedEpub } from '../../lib/format/epub/epub.ts'
import { openBook } from '../../lib/format/formats.ts'
import type { SourceReading } from '../../lib/metadata/metadata.ts'
import { packPages } from '../../lib/page/page-list.ts'
import { extensionOf } from '../../lib/path.ts'
import { describeBook } from './describe.ts'
import type { FileToRead, ReadError, Reading, ReadingRules } from './reading.ts'
import { readSidecars } from './sidecars.ts'

/** Never throws for what is in the file: an unreadable one gives a Reading with `error`. */
export async function readBook(item: FileToRead, rules: ReadingRules): Promise<Reading> {
  const reading = emptyReading(item)
  let known: Known = { sources: [], opened: null, error: null }
  try {
    using file = openFile(Buffer.from(item.path, 'latin1'))
    reading.opens++
    try {
      reading.fingerprint = fingerprint(file)
      if (item.known === reading.fingerprint && !item.forced) return { ...reading, same: true }
      await using opened = await openBook(file, extensionOf(item.relative), rules.limits)
      known = { sources: await opened.metadata(), opened, error: null }
      takeOpened(reading, opened, known.sources)
      if (rules.pageHash) reading.firstPageSha256 = await firstPageHash(opened)
    } finally {
      reading.bytesRead += file.bytesRead
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    known = { sources: [], opened: null, error: { code: error.code, message: error.message } }
  }
  return finish(reading, item, rules, known)
}

type Known = { sources: SourceReading[]; opened: Opened | null; error: ReadError | null }

/** A file that killed its thread: what the name and the folder say, and why. */
export function unreadReading(item: FileToRead, rules: ReadingRules, error: ReadError): Reading {
  const reading = emptyReading(item)
  return finish({ ...reading, opens: 1 }, item, rules, { sources: [], opened: null, error })
}

function finish(
  reading: Reading,
  item: FileToRead,
  rules: ReadingRules,
  { sources, error }: Known,
): Reading {
  const sidecars = readSidecars(item, rules, reading)
  const described = describeBook(item, rules, sources, sidecars)
  const warnings = [
    ...reading.warnings,
    ...[...sources, ...sidecars].flatMap(s => s.warnings),
  ].slice(0, 50)
  return {
    ...reading,
    ...described,
    error,
    warnings,
    ...(error ? { pageCount: 0, pages: null, pageType: null, hasCover: false } : {}),
  }
}

function emptyReading(item: FileToRead): Reading {
  return {
    id: item.id,
    path: item.relative,
    bytesRead: 0,
    opens: 0,
    fingerprint: null,
    same: false,
    error: null,
    warnings: [],
    format: null,
    pageCount: 0,
    hasCover: false,
    series: null,
    columns: '{}',
    pages: null,
    pageType: null,
    shown: null,
  }
}

function takeOpened(reading: Reading, opened: Opened, sources: SourceReading[]) {
  const notes = sources.find(s => s.metadata.pageNotes)?.metadata.pageNotes
  reading.format = opened.format
  reading.pageCount = opened.pageCount
  reading.pages = packPages(opened.pages, notes).toString('base64')
  reading.pageType = pageTypeOf(opened)
  reading.warnings = [...opened.warnings]
  // Whether an EPUB without images has a cover is seen when it is made.
  reading.hasCover = opened.pages.length > 0 || opened.format === 'epub'
}

const streamable = new Set(['image/jpeg', 'image/png', 'image/gif'])

/** The type that OPDS-PSE may promise for every page as it is; null where pages have to be made alike. */
function pageTypeOf(opened: Opened): string | null {
  const { format, pages, pageCount } = opened
  const types = new Set(pages.map(page => page.mediaType))
  const [only] = types
  const isUniform = types.size === 1 && streamable.has(only!)
  if (format !== 'epub') return isUniform && format !== 'pdf' ? only! : null
  // A reflowable one has images too, but they are not its pages.
  const isFixed = (opened as OpenedEpub).layout === 'pre-paginated' && pages.length === pageCount
  return isFixed && pages.length > 0 ? (isUniform ? only! : 'image/jpeg') : null
}

/** SHA-256 of the original bytes of page 1; null when it has none or they cannot be read. */
async function firstPageHash(opened: Opened) {
  if (opened.pages.length === 0) return null
  try {
    const { bytes } = await opened.page(0)
    return hash('sha256', bytes, 'hex')
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
