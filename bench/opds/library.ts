// A library for a crawl of the catalogues: books of every format from the generator of the corpus, and
// those with hostile titles and names.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { comicOf, epubOf, report, tarOf } from '../../test/kit/opds/books.ts'
import { hostileNames, hostileTitles } from '../../test/kit/opds/hostile.ts'

const generator = fileURLToPath(
  new URL('../../../shared/corpus/tools/make_library.mjs', import.meta.url),
)
const aSeries = 20
const shares = { epub: 0.15, pdf: 0.1, cbr: 0.1, cb7: 0.03, corrupt: 0.02, dup: 0.02, unicode: 0.4 }

/** `damaged` are the paths of books that the generator spoiled: what is asked of those may fail. */
export type Library = { root: string; damaged: Set<string> }

/** Below `folder`; one that is there already is taken as it is. */
export async function makeLibrary(folder: string, books: number): Promise<Library> {
  const out = join(folder, 'made')
  const library = join(out, 'library')
  if (!existsSync(library)) await make(out, library, books)
  const truth = readFileSync(join(out, '_truth.jsonl'), 'utf8').trim().split('\n')
  const spoiled = truth.map(line => JSON.parse(line)).filter(book => book.corrupt !== null)
  return { root: library, damaged: new Set(spoiled.map(book => book.path)) }
}

async function make(out: string, root: string, books: number) {
  const size = { series: Math.ceil(books / aSeries), books: aSeries, pages: '2-4', size: '48x72' }
  const options = Object.entries({ ...size, ...shares }).flatMap(([k, v]) => [`--${k}`, String(v)])
  const args = [generator, '--out', out, '--preset', 'mixed', ...options]
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('the generator of libraries failed')
  await addHostile(root)
}

async function addHostile(root: string) {
  const write = (path: string | Buffer, bytes: Uint8Array) => {
    const place = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path as string)])
    const folder = place.subarray(0, place.lastIndexOf(0x2f))
    mkdirSync(folder, { recursive: true })
    writeFileSync(place, bytes)
  }
  for (const [i, name] of hostileNames.entries())
    write(name, await comicOf(['png'], { Series: 'Names', Number: i }))
  for (const [i, Title] of hostileTitles.entries()) {
    const said = { Title, Summary: Title, Writer: Title.slice(0, 100), Tags: 'hostile, titles' }
    write(`Titles/${i}.cbz`, await comicOf(['jpeg', 'webp'], { Series: Title, ...said }))
    write(`All titles/${i}.cbz`, await comicOf(['png'], { Series: 'R&B <i>100%</i> #1?', ...said }))
  }
  write('Formats/fixed.epub', await epubOf({ title: 'Fixed & "laid out"', fixed: true }))
  write('Formats/words.epub', await epubOf({ title: 'Words <b>', fixed: false }))
  write('Formats/report.pdf', report())
  write('Formats/tar.cbt', await tarOf(['png', 'gif']))
}
