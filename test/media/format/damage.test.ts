// Damaged books of every format: intact parts are read, and the error has the code of the damage. Content decides,
// not the extension.
import { crc32 } from 'node:zlib'
import t from 'tap'
import { scoped } from '../../../lib/base/async/dispose.ts'
import { Unreadable } from '../../../lib/base/errors.ts'
import { openBook } from '../../../lib/media/format/formats.ts'
import { openBytes, png, tarEnd, tarEntry, zip } from '../../kit/files/archives.ts'
import { goldenFile } from '../../kit/files/corpus.ts'
import { epubBytes } from '../../kit/files/epub.ts'
import { pdfOf, stream } from '../../kit/files/pdf.ts'
import { storedRar, storedSevenZip } from '../../kit/files/stored-archives.ts'
import { createRandom, type Random } from '../../kit/random.ts'

const seeds = 8
const pageCount = 6

function pages(random: Random) {
  return Array.from({ length: pageCount }, (_, i) => ({
    name: `${i}.png`,
    bytes: Buffer.concat([
      png(10 + i),
      Buffer.from(Array.from({ length: 100 + random.below(400) }, () => random.below(256))),
    ]),
  }))
}

function storedRar4(files: readonly { name: string; bytes: Buffer }[]): Buffer {
  const block = (type: number, flags: number, more: Buffer) => {
    const header = Buffer.alloc(7)
    header[2] = type
    header.writeUInt16LE(flags, 3)
    header.writeUInt16LE(7 + more.length, 5)
    const bytes = Buffer.concat([header, more])
    bytes.writeUInt16LE(crc32(bytes.subarray(2)) & 0xffff, 0)
    return bytes
  }
  const blocks = files.flatMap(({ name, bytes }) => {
    const file = Buffer.alloc(25)
    file.writeUInt32LE(bytes.length, 0)
    file.writeUInt32LE(bytes.length, 4)
    file[8] = 3
    file.writeUInt32LE(crc32(bytes), 9)
    file.set([20, 0x30], 17)
    file.writeUInt16LE(name.length, 19)
    file.writeUInt32LE(0o100644, 21)
    return [block(0x74, 0x8000, Buffer.concat([file, Buffer.from(name)])), bytes]
  })
  const start = [Buffer.from('526172211a0700', 'hex'), block(0x73, 0, Buffer.alloc(6))]
  return Buffer.concat([...start, ...blocks, block(0x7b, 0x4000, Buffer.alloc(0))])
}

const chapter = '<html><body><p>text</p></body></html>'

/** A book of each format, with the extension that it should have. */
const makers: Record<string, (random: Random) => { bytes: Buffer; extension: string }> = {
  zip: random => ({ bytes: zip(pages(random)), extension: 'cbz' }),
  'deflated zip': random => ({
    bytes: zip(pages(random).map(page => ({ ...page, deflate: true }))),
    extension: 'cbz',
  }),
  'rar 4': random => ({ bytes: storedRar4(pages(random)), extension: 'cbr' }),
  'rar 5': random => ({ bytes: storedRar(pages(random)), extension: 'cbr' }),
  '7z': random => ({ bytes: storedSevenZip(pages(random)), extension: 'cb7' }),
  'compressed 7z': () => ({ bytes: goldenFile('7z/lzma.cb7'), extension: 'cb7' }),
  tar: random => ({
    bytes: Buffer.concat([...pages(random).map(p => tarEntry(p.name, p.bytes)), tarEnd]),
    extension: 'cbt',
  }),
  epub: random => ({
    bytes: epubBytes({
      metadata: '<title>A</title>',
      manifest:
        '<item id="a" href="a.html" media-type="application/xhtml+xml"/>' +
        '<item id="b" href="1.png" media-type="image/png"/>',
      spine: '<itemref idref="a"/>',
      files: { 'OPS/a.html': chapter, 'OPS/1.png': pages(random)[0]!.bytes },
    }),
    extension: 'epub',
  }),
  pdf: random => ({
    bytes: pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      `<</Type/Pages/Count ${pageCount}/Kids[${range(pageCount, i => `${i + 4} 0 R`)}]>>`,
      stream('', `0 0 ${random.below(99)} 50 re f`),
      ...range(pageCount, () => '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R>>'),
    ]),
    extension: 'pdf',
  }),
}

function range(length: number, item: (i: number) => string): string[] {
  return Array.from({ length }, (_, i) => item(i))
}

/** The readable pages, or the code of the error. */
async function outcome(t: Tap, bytes: Buffer, extension: string) {
  try {
    return await scoped(async use => {
      const book = use(await openBook(use(openBytes(t.testdir(), bytes)), extension))
      let readable = 0
      for (let i = 0; i < book.imageCount; i += 1)
        readable += await book.page(i).then(
          () => 1,
          error => {
            if (!(error instanceof Unreadable)) throw error
            return 0
          },
        )
      return { code: null, format: book.format, readable, warnings: book.warnings }
    })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { code: error.code, format: null, readable: 0, warnings: [error.message] }
  }
}

type Tap = { testdir(): string }

const mutations: Record<
  string,
  { mutate(bytes: Buffer, random: Random): Buffer; codes: string[] }
> = {
  'cut short': {
    mutate: (bytes, random) => bytes.subarray(0, 1 + random.below(bytes.length - 1)),
    codes: ['truncated'],
  },
  'with changed bytes': {
    mutate(bytes, random) {
      const copy = Buffer.from(bytes)
      random.mutate(copy, 8)
      return copy
    },
    codes: ['bad_crc', 'truncated', 'encrypted', 'unsupported_method', 'too_large', 'multi_volume'],
  },
  'with missing bytes': {
    mutate(bytes, random) {
      const at = random.below(bytes.length - 40)
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(39))])
    },
    codes: ['bad_crc', 'truncated'],
  },
  'with a destroyed signature': {
    mutate(bytes, random) {
      const copy = Buffer.from(bytes)
      for (let i = 0; i < 4; i += 1) copy[i] = random.below(256)
      return copy
    },
    codes: [],
  },
}

for (const [what, { mutate, codes }] of Object.entries(mutations)) {
  t.test(`books ${what}`, async t => {
    const problems: string[] = []
    for (const [name, make] of Object.entries(makers)) {
      const counts: Record<string, number> = {}
      for (let seed = 0; seed < seeds; seed += 1) {
        const random = createRandom(seed)
        const { bytes, extension } = make(random)
        const { code, readable, warnings } = await outcome(t, mutate(bytes, random), extension)
        const key = code ?? (readable === 0 ? 'no readable page' : 'opened')
        counts[key] = (counts[key] ?? 0) + 1
        // The name of the package in the directory of an EPUB has no checksum.
        const isUnnamed = name === 'epub' && code === 'unsupported_format'
        if (code !== null && !isUnnamed && !codes.includes(code))
          problems.push(`${name}, seed ${seed}: ${code} (${warnings})`)
      }
      t.comment(`${name.padEnd(14)} ${JSON.stringify(counts)}`)
    }
    t.same(problems, [])
  })
}

t.test('the extension does not matter where the content is known', async t => {
  const random = createRandom(1)
  for (const [name, make] of Object.entries(makers)) {
    const { bytes, extension } = make(random)
    const expected = await outcome(t, bytes, extension)
    t.equal(expected.code, null, name)
    for (const other of ['cbz', 'cbr', 'cb7', 'cbt', 'pdf', 'zip', 'rar']) {
      const found = await outcome(t, bytes, other)
      t.same([found.code, found.readable], [null, expected.readable], `${name} as ${other}`)
    }
  }
})

t.test('files that are no books are named', async t => {
  const cases: [what: Buffer, code: string, message: RegExp][] = [
    [Buffer.alloc(0), 'truncated', /empty/],
    [Buffer.from('Rar!'), 'truncated', /early/],
    [Buffer.from('PK'), 'truncated', /early/],
    [Buffer.from('%PD'), 'truncated', /early/],
    [Buffer.alloc(9000), 'truncated', /zero bytes/],
    [Buffer.from('<!DOCTYPE html><title>404</title>'), 'not_an_archive', /web page/],
    [Buffer.from('just a note'), 'not_an_archive', /a text/],
    [png(5), 'not_an_archive', /image\/png/],
    [Buffer.concat([Buffer.alloc(60, 'x'), Buffer.from('BOOKMOBI')]), 'not_an_archive', /Kindle/],
    [Buffer.from('\x1f\x8b\x08\x00\x00\x00', 'latin1'), 'not_an_archive', /gzip/],
    [Buffer.alloc(5000, '\x01\x02\xff'), 'not_an_archive', /Unknown/],
  ]
  for (const extension of ['cbz', 'cbr', 'cb7', 'cbt', 'pdf', 'epub'])
    for (const [bytes, code, message] of cases) {
      const { code: found, warnings } = await outcome(t, bytes, extension)
      t.equal(found, code, `${message} as ${extension}`)
      t.match(warnings[0], message, extension)
    }
})
