// Library for the crawl of the OPDS catalogs: books of every format from the corpus generator, and books
// with hostile titles and names.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { comicOf, epubOf, reportPdf, tarOf } from '../../test/kit/opds/books.ts'
import { hostileNames, hostileTitles } from '../../test/kit/opds/hostile.ts'
import { requireShared } from '../kit/shared.ts'

const booksPerSeries = 20
const shares = { epub: 0.15, pdf: 0.1, cbr: 0.1, cb7: 0.03, corrupt: 0.02, dup: 0.02, unicode: 0.4 }

/** `damaged` are the paths of books that the generator corrupted: requests for those may fail. */
export type Library = { root: string; damaged: Set<string> }

/** Creates a library below `folder` unless there is one already. */
export async function createLibrary(folder: string, books: number): Promise<Library> {
  const out = join(folder, 'made')
  const library = join(out, 'library')
  if (!existsSync(library)) await generate(out, library, books)
  const truth = readFileSync(join(out, '_truth.jsonl'), 'utf8').trim().split('\n')
  const damaged = truth.map(line => JSON.parse(line)).filter(book => book.corrupt !== null)
  return { root: library, damaged: new Set(damaged.map(book => book.path)) }
}

async function generate(out: string, root: string, books: number) {
  const size = {
    series: Math.ceil(books / booksPerSeries),
    books: booksPerSeries,
    pages: '2-4',
    size: '48x72',
  }
  const options = Object.entries({ ...size, ...shares }).flatMap(([k, v]) => [`--${k}`, String(v)])
  const generator = requireShared('corpus/tools/make_library.mjs')
  const args = [generator, '--out', out, '--preset', 'mixed', ...options]
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('the generator of libraries failed')
  await addHostile(root)
}

async function addHostile(root: string) {
  const write = (path: string | Buffer, bytes: Uint8Array) => {
    const absolute = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path as string)])
    const folder = absolute.subarray(0, absolute.lastIndexOf(0x2f))
    mkdirSync(folder, { recursive: true })
    writeFileSync(absolute, bytes)
  }
  for (const [i, name] of hostileNames.entries())
    write(name, await comicOf(['png'], { Series: 'Names', Number: i }))
  for (const [i, Title] of hostileTitles.entries()) {
    const metadata = { Title, Summary: Title, Writer: Title.slice(0, 100), Tags: 'hostile, titles' }
    write(`Titles/${i}.cbz`, await comicOf(['jpeg', 'webp'], { Series: Title, ...metadata }))
    write(
      `All titles/${i}.cbz`,
      await comicOf(['png'], { Series: 'R&B <i>100%</i> #1?', ...metadata }),
    )
  }
  write('Formats/fixed.epub', await epubOf({ title: 'Fixed & "laid out"', fixed: true }))
  write('Formats/words.epub', await epubOf({ title: 'Words <b>', fixed: false }))
  write('Formats/report.pdf', reportPdf())
  write('Formats/tar.cbt', await tarOf(['png', 'gif']))
}
