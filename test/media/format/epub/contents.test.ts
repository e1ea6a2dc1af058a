// Contents of EPUBs, also damaged ones.
import t from 'tap'
import { Unreadable } from '../../../../lib/base/errors.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { readContents } from '../../../../lib/media/format/epub/contents.ts'
import { adobeAlgorithm, idpfAlgorithm } from '../../../../lib/media/format/epub/encryption.ts'
import { epubReader } from '../../../../lib/media/format/epub/epub.ts'
import { positionCounts, sum } from '../../../../lib/media/format/epub/positions.ts'
import { deobfuscate, readResource } from '../../../../lib/media/format/epub/resource.ts'
import { openBytes, openPath } from '../../../kit/files/archives.ts'
import { corpusBooks } from '../../../kit/files/corpus.ts'
import { epub2, font, obfuscated, richEpub } from '../../../kit/opds/epub.ts'
import { createRandom } from '../../../kit/random.ts'
import { use } from '../../../kit/use.ts'

t.test('books of the corpus are listed or rejected as unreadable', async t => {
  let listed = 0
  const books = corpusBooks(['epub'])
  for (const { path } of books) {
    const file = openPath(path)
    try {
      const { contents, entries } = await readContents(file, defaultLimits)
      listed += 1
      t.equal(entries.length, contents.resources.length)
      const read = contents.readingOrder.map(place => contents.resources[place])
      t.ok(read.length > 0 && !read.includes(undefined), path)
      t.equal(new Set(read).size, read.length, 'each once')
      const counts = positionCounts(
        read.map(resource => resource!),
        contents.isFixedLayout,
      )
      const book = use(t, await epubReader.open(file, defaultLimits))
      t.equal(sum(counts), book.pageCount, `${path}: its positions are its pages`)
      t.ok(contents.toc.length > 0, 'the table of contents is never empty')
    } catch (error) {
      t.ok(error instanceof Unreadable, `${path}: ${error}`)
    } finally {
      file[Symbol.dispose]()
    }
  }
  t.ok(listed > books.length / 2, `${listed} books`)
})

t.test('mutated books yield contents or Unreadable', async t => {
  const { next } = createRandom(7)
  const folder = t.testdir()
  const outcomes = { read: 0, refused: 0 }
  for (const whole of [richEpub(), epub2()]) {
    for (let i = 0; i < 150; i++) {
      const bytes = Buffer.from(whole)
      for (let n = 1 + next() * 20; n > 0; n--)
        bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256)
      const file = openBytes(folder, bytes)
      try {
        const { contents } = await readContents(file, defaultLimits)
        for (const { name } of contents.resources.slice(0, 3))
          await readResource(file, defaultLimits, name)
        outcomes.read += 1
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
        outcomes.refused += 1
      } finally {
        file[Symbol.dispose]()
      }
    }
  }
  t.ok(outcomes.read > 20 && outcomes.refused > 20, JSON.stringify(outcomes))
})

t.test('obfuscated fonts are decoded with the identifier of the book', async t => {
  const identified = (id: string) =>
    Buffer.from(
      `<package unique-identifier="u"><metadata><dc:identifier>x</dc:identifier><dc:identifier id="u"> ${id} </dc:identifier></metadata></package>`,
    )
  const uuid = '11111111-2222-4333-8444-555555555555'
  const opf = identified(`urn:uuid:${uuid}`)
  t.same(deobfuscate(obfuscated(font), idpfAlgorithm, opf), font)
  t.notSame(deobfuscate(obfuscated(font), idpfAlgorithm, identified('other')), font)
  const key = Buffer.from(uuid.replaceAll('-', ''), 'hex')
  const byAdobe = Buffer.from(font.map((byte, i) => (i < 1024 ? byte ^ key[i % 16]! : byte)))
  t.same(deobfuscate(Buffer.from(byAdobe), adobeAlgorithm, opf), font)
  t.same(
    deobfuscate(Buffer.from(byAdobe), adobeAlgorithm, identified('no uuid')),
    byAdobe,
    'without a key',
  )
  t.same(deobfuscate(Buffer.from(font), idpfAlgorithm, Buffer.from('')), font)
})
