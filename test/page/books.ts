// Fixtures for page tests: images, and books on disk without a catalog.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import sharp from 'sharp'
import type { Test } from 'tap'
import { scoped } from '../../lib/base/async/dispose.ts'
import { openFile } from '../../lib/base/file.ts'
import { extensionOf } from '../../lib/base/path.ts'
import { deliveryCounters } from '../../lib/download/counters.ts'
import type { FileBody } from '../../lib/download/file-body.ts'
import { defaultLimits } from '../../lib/media/archive/limits.ts'
import { openBook } from '../../lib/media/format/formats.ts'
import type { PageBook } from '../../lib/page/engine.ts'
import { packPages } from '../../lib/page/page-list.ts'
import { openPages } from '../../lib/page/pages.ts'
import { createRandom } from '../kit/random.ts'

/** The page service with its own cache, closed at the end of the test. */
export function engine(t: Test, options: Partial<Parameters<typeof openPages>[0]> = {}) {
  const pages = openPages({
    folder: cacheFolder(t),
    cacheBytes: 64 * 1024 * 1024,
    limits: defaultLimits,
    access: () => ({ dataDir: '/nowhere', linkFolders: [] }),
    threads: 1,
    timeoutMs: 30_000,
    memoryMb: 512,
    onBug: error => t.error(error),
    ...options,
  })
  t.teardown(() => pages.close())
  return pages
}

export function cacheFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'stackroom-pages-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A book as a scan would have cataloged it. */
export function bookAt(path: string): Promise<PageBook & { count: number }> {
  const { size, mtimeMs } = statSync(path)
  return scoped(async use => {
    const file = use(openFile(Buffer.from(path)))
    const opened = use(await openBook(file, extensionOf(path)))
    return {
      id: path,
      root: Buffer.from(dirname(path)),
      path: Buffer.from(path),
      followLinks: false,
      name: basename(path),
      size,
      modifiedMs: Math.round(mtimeMs),
      format: opened.format,
      pages: packPages(opened.pages, { changedMs: file.changedMs }),
      count: opened.pages.length,
    }
  })
}

export async function bookOf(t: Test, name: string, bytes: Uint8Array) {
  const path = join(t.testdir(), name)
  writeFileSync(path, bytes)
  return bookAt(path)
}

/** Page `index` as the opened book returns it. */
export function truth(path: string, index: number): Promise<Buffer> {
  return scoped(async use => {
    const file = use(openFile(Buffer.from(path)))
    const opened = use(await openBook(file, extensionOf(path)))
    return Buffer.from((await opened.page(index)).bytes)
  })
}

/** The bytes of a body, which is released. */
export async function bytesOf({ body, release }: FileBody): Promise<Buffer> {
  const bytes = Buffer.isBuffer(body) ? Buffer.from(body) : await buffer(body as Readable)
  release()
  return bytes
}

/** An image with noise, always the same, so that it does not compress to a few bytes. */
export function picture(width: number, height: number, format: 'jpeg' | 'png' | 'webp' = 'jpeg') {
  const random = createRandom(width * 100_003 + height)
  const channels = 3
  const pixels = Buffer.alloc(width * height * channels)
  for (let i = 0; i < pixels.length; i++) pixels[i] = 88 + random.below(80)
  return sharp(pixels, { raw: { width, height, channels } }).toFormat(format).toBuffer()
}

export const snapshotCounters = () => ({ ...deliveryCounters })
/** What has been counted since. */
export function countedSince(before: typeof deliveryCounters) {
  const { opens, reads, directories, tasks } = deliveryCounters
  return {
    opens: opens - before.opens,
    reads: reads - before.reads,
    directories: directories - before.directories,
    tasks: tasks - before.tasks,
  }
}
