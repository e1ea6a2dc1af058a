// What is in an EPUB, also when it is ruined.
import t from 'tap'
import { Unreadable } from '../../../lib/errors.ts'
import { defaultLimits } from '../../../lib/format/contract.ts'
import { readContents } from '../../../lib/format/epub/contents.ts'
import { adobe, idpf, unhide } from '../../../lib/format/epub/obfuscation.ts'
import { readMember } from '../../../lib/format/epub/resource.ts'
import { onDisk, openCorpus, random } from '../../archive/archive-files.ts'
import { font, hidden, older, rich } from '../../kit/opds/epub.ts'
import { expectations } from './epub-files.ts'

t.test('every book of the corpus is listed, or refused as unreadable', async t => {
  let listed = 0
  for (const { path } of expectations('epub')) {
    using file = openCorpus(path.replace(/^library\//, ''))
    try {
      const { contents, entries } = await readContents(file, defaultLimits)
      listed += 1
      t.equal(entries.length, contents.resources.length)
      const read = contents.readingOrder.map(place => contents.resources[place])
      t.ok(read.length > 0 && !read.includes(undefined), path)
      t.equal(new Set(read).size, read.length, 'each once')
      t.ok(contents.toc.length > 0, 'there is always a way in')
    } catch (error) {
      t.ok(error instanceof Unreadable, `${path}: ${error}`)
    }
  }
  t.ok(listed > 80, `${listed} books`)
})

t.test('mutations end in contents or in Unreadable', async t => {
  const next = random(7)
  const folder = t.testdir()
  const outcomes = { read: 0, refused: 0 }
  for (const whole of [rich(), older()]) {
    for (let i = 0; i < 150; i++) {
      const bytes = Buffer.from(whole)
      for (let n = 1 + next() * 20; n > 0; n--)
        bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256)
      using file = onDisk(folder, bytes)
      try {
        const { contents } = await readContents(file, defaultLimits)
        for (const { name } of contents.resources.slice(0, 3))
          await readMember(file, defaultLimits, name)
        outcomes.read += 1
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
        outcomes.refused += 1
      }
    }
  }
  t.ok(outcomes.read > 20 && outcomes.refused > 20, JSON.stringify(outcomes))
})

t.test('hidden fonts are shown by the identifier of their book', async t => {
  const identified = (id: string) =>
    Buffer.from(
      `<package unique-identifier="u"><metadata><dc:identifier>x</dc:identifier><dc:identifier id="u"> ${id} </dc:identifier></metadata></package>`,
    )
  const uuid = '11111111-2222-4333-8444-555555555555'
  const opf = identified(`urn:uuid:${uuid}`)
  t.same(unhide(hidden(font), idpf, opf), font)
  t.notSame(unhide(hidden(font), idpf, identified('other')), font)
  const key = Buffer.from(uuid.replaceAll('-', ''), 'hex')
  const byAdobe = Buffer.from(font.map((byte, i) => (i < 1024 ? byte ^ key[i % 16]! : byte)))
  t.same(unhide(Buffer.from(byAdobe), adobe, opf), font)
  t.same(unhide(Buffer.from(byAdobe), adobe, identified('no uuid')), byAdobe, 'without a key')
  t.same(unhide(Buffer.from(font), idpf, Buffer.from('')), font)
})
