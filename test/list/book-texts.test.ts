// Tests of the texts of books that lists search in memory and in files.
import { deepEqual } from 'node:assert/strict'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { loadBookSegment } from '../../lib/list/index/books/book-segment.ts'
import {
  booksOfText,
  createTextReader,
  searchTexts,
} from '../../lib/list/index/books/book-texts.ts'
import { createTextFile } from '../../lib/list/index/books/read-texts.ts'
import {
  createTextColumn,
  forEachMatch,
  type TextOperator,
} from '../../lib/list/index/books/text-column.ts'
import { idAt } from '../../lib/list/index/id-table.ts'
import type { Folder } from '../../lib/list/index/temporary-file.ts'
import { matchesQuery, matchRank } from '../../lib/list/sql/search.ts'
import { parseSearchQuery } from '../../lib/media/name/search-text.ts'
import { createDatabase } from '../kit/db.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { environmentOf } from './environment.ts'
import { openListFiles } from './open-list-files.ts'

const { sql } = await createDatabase(t)
await storeFacts(sql, makeFacts(17, 40))
const path = join(t.testdir(), 'lists')
const environment = environmentOf(sql, { folder: { path, hasSpace: () => true } })
const textReader = createTextReader(environment)

t.test('searches of frequent words in the file find and rank as the database does', async t => {
  const segment = (await loadBookSegment(sql, { maxBytes: 10 ** 9, textReader }))!
  textReader.readLater(segment, 'search')
  await textReader.idle()
  const rows = await sql<{ text: string }[]>`select text from book_search`
  const words = rows.flatMap(({ text }) => text.split(/\s+/).filter(Boolean))
  const phrases = rows.map(({ text }) => text.slice(1, text.indexOf('\n')))
  const pairs = fc.tuple(fc.constantFrom(...words), fc.constantFrom(...words)).map(w => w.join(' '))
  const starts = fc.constantFrom(...words).map(word => word.slice(0, 2))
  const together = fc.constantFrom(...phrases).map(phrase => phrase.replaceAll(' ', ''))
  const queries = fc.oneof(fc.constantFrom(...words, ...phrases), pairs, starts, together)
  let searched = 0
  await fc.assert(
    fc.asyncProperty(queries, async text => {
      const query = parseSearchQuery(text)
      const found: [string, number][] = []
      const visit = (book: number, rank: number) => found.push([idAt(segment.ids, book), rank])
      if (!query || (await searchTexts(segment, query, visit)) === null) return
      searched++
      const expected = await sql<{ id: string; rank: number }[]>`
        select t.book_id as id, ${matchRank(sql, query)} as rank
        from book_search t where ${matchesQuery(sql, query)}`
      deepEqual(found.sort(), expected.map(({ id, rank }) => [id, rank]).sort())
    }),
    { numRuns: 300, seed: 61 },
  )
  t.ok(searched > 50, `${searched} searches`)
})

t.test('summaries are read from the database again when their file is damaged', async t => {
  const segment = (await loadBookSegment(sql, { maxBytes: 10 ** 9, textReader }))!
  const search = { field: 'summary', operator: 'contains', value: 'a' } as const
  textReader.readLater(segment, 'summary')
  await textReader.idle()
  t.ok(await booksOfText(segment, search))
  const files = openListFiles()
  t.ok(files.length > 0)
  for (const { path } of files) truncateSync(path, 1)
  t.equal(await booksOfText(segment, search), null)
  textReader.readLater(segment, 'summary')
  await textReader.idle()
  t.ok(await booksOfText(segment, search))
})

t.test('without space for them no texts are stored, and conditions read the database', async t => {
  const search = { field: 'summary', operator: 'contains', value: 'a' } as const
  const read = async (folder: Folder) => {
    const textReader = createTextReader(environmentOf(sql, { folder }))
    const segment = (await loadBookSegment(sql, { maxBytes: 10 ** 9, textReader }))!
    const readAgain = async () => {
      textReader.readLater(segment, 'summary')
      await textReader.idle()
      return await booksOfText(segment, search)
    }
    t.equal(await readAgain(), null)
    return readAgain
  }
  let checks = 0
  await read({ path: '/dev/null/lists', hasSpace: () => true })
  await read({ path, hasSpace: () => checks++ === 0 })
  t.equal(checks, 2)
  let hasSpace = false
  const readAgain = await read({ path, hasSpace: () => hasSpace })
  hasSpace = true
  t.ok(await readAgain(), 'they are stored when there is space again')
  const sizes = openListFiles().map(({ size }) => size)
  t.ok(sizes.includes(0), 'what was written is given back')
})

t.test('texts in memory and in a file match as strings do', async () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 6 })
  const operators = {
    equals: (text: string, value: string) => text === value,
    contains: (text: string, value: string) => text.includes(value),
    beginsWith: (text: string, value: string) => text.startsWith(value),
    endsWith: (text: string, value: string) => text.endsWith(value),
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(letters, { maxLength: 12 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 3 }),
      async (texts, value) => {
        const file = (await createTextFile(environment.createFile))!
        for (const store of [undefined, file]) {
          const builder = createTextColumn(texts.length, store)
          texts.forEach((text, i) => {
            builder.add(Buffer.from(text), i)
          })
          await file.flush()
          const column = builder.finish()
          for (const operator of Object.keys(operators) as TextOperator[]) {
            const found: number[] = []
            const search = { operator, value: Buffer.from(value) }
            await forEachMatch(column, search, book => found.push(book))
            deepEqual(
              found,
              [...texts.keys()].filter(i => operators[operator](texts[i]!, value)),
            )
          }
        }
      },
    ),
    { numRuns: 300, seed: 5 },
  )
})
