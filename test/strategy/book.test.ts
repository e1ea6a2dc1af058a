// Book strategies: title, volume and chapter.
import t from 'tap'
import { Invalid } from '../../lib/errors.ts'
import {
  type BookFacts,
  type BookStrategy,
  nameBook,
  validateBookStrategy,
} from '../../lib/strategy/book.ts'
import { argsOf, casesOf } from './cases.ts'

const number = (text: string) => (text === '' ? null : Number(text))

t.test('rows of filename: the stem, and only marked numbers', async t => {
  for (const { filename, title, volume, chapter, strategy } of casesOf('book:filename')) {
    const got = nameBook('filename', {}, { fileName: filename, title: 'Embedded', volume: 9 })
    t.equal(got.title, title)
    if (strategy !== 'book:filename') continue
    t.equal(got.volume, number(volume), filename)
    // `[c2c]` is how a book was scanned, not its second chapter.
    t.equal(got.chapter, filename.includes('c2c') ? null : number(chapter), filename)
  }
})

t.test('rows of metadata_first, smart and series_name', async t => {
  for (const strategy of ['metadata_first', 'smart'] as const) {
    for (const { filename, args, title } of casesOf(`book:${strategy}`)) {
      const told = /meta title=([^;]+?)(?:;|\)$)/.exec(args)?.[1] ?? null
      const generic = /extra pattern (.+)\)$/.exec(args)?.[1]
      const config = generic ? { additional_generic_patterns: [generic] } : {}
      const full = validateBookStrategy(strategy, strategy === 'smart' ? config : {})
      t.equal(
        nameBook(strategy, full, { fileName: filename, title: told }).title,
        title,
        `${filename} ${args}`,
      )
    }
  }
  for (const { filename, args, title } of casesOf('book:series_name')) {
    const said = argsOf(args.slice(0, -1))
    const facts: BookFacts = {
      fileName: filename,
      series: said.series,
      number: said.number ? Number(said.number) : null,
      total: Number(said.total ?? 0),
      placedVolume: said.volume?.replaceAll("'", ''),
      chapter: said.chapter ? Number(said.chapter) : null,
    }
    t.equal(nameBook('series_name', {}, facts).title, title, args)
  }
})

t.test('rows of custom: groups fill the template, a miss falls back', async t => {
  for (const { filename, args, title, volume, chapter } of casesOf('book:custom')) {
    const told = /\[meta title=(.+)\]$/.exec(args)?.[1] ?? null
    const { pattern = '', template, fallback } = argsOf(args.replace(/\)(?:\[meta.*)?$/, ''))
    const config = { pattern, titleTemplate: template, fallback: fallback as BookStrategy }
    const got = nameBook('custom', config, { fileName: filename, title: told })
    t.equal(got.title, title, args)
    if (volume) t.equal(got.volume, Number(volume), args)
    if (chapter) t.equal(got.chapter, Number(chapter), args)
  }
})

t.test('embedded volume and chapter come first, the file name fills the gaps', async t => {
  const book = { fileName: 'Series v03 c016.cbz', volume: 4, title: ' ' }
  t.same(nameBook('metadata_first', {}, book), { title: 'Series v03 c016', volume: 4, chapter: 16 })
})

t.test('what is wrong with a configuration is said', async t => {
  t.throws(() => validateBookStrategy('custom', { pattern: '[' }), Invalid)
  t.throws(() => validateBookStrategy('custom', {}), Invalid)
  t.throws(() => validateBookStrategy('smart', { additionalGenericPatterns: ['('] }), /\[0\]/)
  t.throws(() => validateBookStrategy('toString', {}), Invalid)
  t.same(validateBookStrategy('custom', { pattern: 'x', title_template: '{title}' }), {
    pattern: 'x',
    titleTemplate: '{title}',
    fallback: 'filename',
  })
})
