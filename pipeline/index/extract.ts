// Reads one file in a thread: fingerprint, pages, metadata of all sources. Opens the file once; the result is
// ready to store.
import { hash } from 'node:crypto'
import { scoped } from '../../lib/base/async/dispose.ts'
import type { DiskAccess } from '../../lib/base/async/interleave.ts'
import { Unreadable } from '../../lib/base/errors.ts'
import { type File, maxWholeFileBytes, openLibraryFile } from '../../lib/base/file.ts'
import { endsOf } from '../../lib/base/file-ranges.ts'
import { fingerprint, samplesOf } from '../../lib/base/fingerprint.ts'
import { extensionOf } from '../../lib/base/path.ts'
import type { Limits } from '../../lib/media/archive/limits.ts'
import { checkContent, readChecks } from '../../lib/media/format/checks.ts'
import {
  type DetectedBook,
  isReflowable,
  isRendered,
  openBook,
} from '../../lib/media/format/formats.ts'
import type { SourceReading } from '../../lib/media/metadata/metadata.ts'
import { packPages } from '../../lib/page/page-list.ts'
import { describeBook } from './describe.ts'
import { damagedSince, hashContent } from './hash-file.ts'
import {
  changedSilently,
  type FileToRead,
  type ReadError,
  type Reading,
  type ReadOptions,
} from './reading.ts'
import { readSidecars } from './sidecars.ts'

const maxWarnings = 50

/** Does not throw because of a file's content: an unreadable file results in a Reading with `error`. */
export async function readBook(
  item: FileToRead,
  options: ReadOptions,
  { disk, tick }: { disk: DiskAccess; tick: () => void },
): Promise<Reading> {
  const reading = emptyReading(item)
  const { limits } = options
  let content: Content = { sources: [], error: null }
  try {
    await scoped(async use => {
      const path = Buffer.from(item.path, 'latin1')
      const file = use(await openLibraryFile(path, options.containment, disk))
      reading.opens++
      reading.changedMs = Math.round(file.changedMs)
      await file.preload?.([...samplesOf(file.size), ...endsOf(file.size)])
      try {
        reading.fingerprint = fingerprint(file)
        reading.isUnchanged = !item.forced && (await isKnown(file, item, { reading, limits, tick }))
        if (reading.isUnchanged) return
        if (options.hashesAll && file.size > 0 && file.size <= maxWholeFileBytes)
          reading.sha256 = hash('sha256', file.read(0, file.size))
        const book = use(await openBook(file, extensionOf(item.relative), limits))
        content = { sources: await book.metadata(), error: null }
        addBook(reading, book, { ...content, changedMs: file.changedMs })
        await checkSilentChange(file, item, { reading, limits, tick })
        if (options.pageHash) reading.firstPageSha256 = await hashFirstPage(book)
      } finally {
        reading.bytesRead += file.bytesRead
      }
    })
    if (reading.isUnchanged) return reading
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    content = { sources: [], error: { code: error.code, message: error.message } }
  }
  return await describeReading(reading, item, { ...options, disk }, content)
}

type Tools = { reading: Reading; limits: Limits; tick: () => void }

/**
 * Whether the file has the content of the book at its place. With a different time it may differ where the
 * fingerprint takes no sample: its checksums decide, or the hash if it has none.
 */
async function isKnown(
  file: File,
  { relative, known }: FileToRead,
  { reading, limits, tick }: Tools,
): Promise<boolean> {
  // An unreadable book is read again whenever its file is pending.
  if (!known || known.hasError || known.fingerprint !== reading.fingerprint) return false
  if (known.modifiedMs === file.modifiedMs) return true
  if (known.checks === null)
    return known.sha256 !== null && known.sha256 === (await hashContent(file, tick)).sha256
  const extension = extensionOf(relative)
  const checks = await readChecks({ file, extension, limits }).catch(ignoreUnreadable)
  return known.checks === checks
}

/**
 * If the time is unchanged, different bytes are damage or an edit; the content's checksums show which. Throws
 * Unreadable for damage, until it is repaired.
 */
async function checkSilentChange(
  file: File,
  { relative, known }: FileToRead,
  { reading, limits, tick }: Tools,
) {
  if (known?.modifiedMs !== file.modifiedMs) return
  const isOther =
    known.fingerprint !== reading.fingerprint ||
    differ(known.checks, reading.checks) ||
    differ(known.sha256, reading.sha256)
  const wasDamaged = known.hasError && known.sha256 !== null
  if (!isOther && !wasDamaged) return
  const check = await checkContent({ file, extension: extensionOf(relative), limits }, tick)
  if (check instanceof Unreadable) throw damagedSince(check)
  if (check === 'unknown' && isOther) reading.warnings.push(changedSilently)
}

const differ = (a: string | null, b: string | null) => a !== null && b !== null && a !== b

/** The subsequent reading reports the error. */
function ignoreUnreadable(error: unknown): null {
  if (error instanceof Unreadable) return null
  throw error
}

type Content = { sources: SourceReading[]; error: ReadError | null }

/** The reading of a file that terminated its thread: from its name, its folder and the error. */
export async function failedReading(
  item: FileToRead,
  options: ReadOptions,
  error: ReadError,
): Promise<Reading> {
  const reading = { ...emptyReading(item), opens: 1 }
  return describeReading(reading, item, { ...options, disk: null }, { sources: [], error })
}

async function describeReading(
  reading: Reading,
  item: FileToRead,
  options: ReadOptions & { disk: DiskAccess | null },
  { sources, error }: Content,
): Promise<Reading> {
  const sidecars = await readSidecars(item, options, reading)
  const description = describeBook(item, options, sources, sidecars)
  const warnings = [
    ...reading.warnings,
    ...[...sources, ...sidecars].flatMap(source => source.warnings),
  ].slice(0, maxWarnings)
  return {
    ...reading,
    ...description,
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
    checks: null,
    sha256: null,
    changedMs: null,
    isUnchanged: false,
    error: null,
    warnings: [],
    format: null,
    pageCount: 0,
    hasCover: false,
    series: null,
    columns: '{}',
    pages: null,
    pageType: null,
    recordFields: null,
  }
}

function addBook(
  reading: Reading,
  book: DetectedBook,
  { sources, changedMs }: { sources: SourceReading[]; changedMs: number },
) {
  const notes = sources.find(source => source.metadata.pageNotes)?.metadata.pageNotes
  reading.format = book.format
  reading.pageCount = book.pageCount
  reading.checks = book.checks
  reading.pages = packPages(book.pages, { notes, changedMs }).toString('base64')
  reading.pageType = pageTypeOf(book)
  reading.warnings = [...book.warnings]
  // Whether a reflowable book without images has a cover is only known once the cover is generated.
  reading.hasCover = book.pages.length > 0 || isReflowable(book.format)
}

const streamable = new Set(['image/jpeg', 'image/png', 'image/gif'])

/** The media type that OPDS-PSE announces for every page; null if pages have to be converted. */
function pageTypeOf({ format, pages, pageCount, layout }: DetectedBook): string | null {
  const types = new Set(pages.map(page => page.mediaType))
  const [firstType] = types
  const isUniform = types.size === 1 && streamable.has(firstType!)
  if (!isReflowable(format)) return isUniform && !isRendered(format) ? firstType! : null
  // The images of a reflowable book are not its pages.
  const isFixed = layout === 'pre-paginated' && pages.length === pageCount
  return isFixed && pages.length > 0 ? (isUniform ? firstType! : 'image/jpeg') : null
}

/** SHA-256 of the original bytes of page 1; null if there is none or it cannot be read. */
async function hashFirstPage(book: DetectedBook) {
  if (book.pages.length === 0) return null
  try {
    const { bytes } = await book.page(0)
    return hash('sha256', bytes, 'hex')
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
