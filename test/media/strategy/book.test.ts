// Book strategies.
import t from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import {
  type BookFacts,
  type BookStrategy,
  nameBook,
  validateBookStrategy,
} from '../../../lib/media/strategy/book.ts'
import { argsOf, goldenCases, sharedCases } from './cases.ts'

t.test('title, volume and chapter follow the strategy', async t => {
  for (const { strategy, config, path, facts, expected } of goldenCases('book')) {
    const full = validateBookStrategy(strategy, config)
    const naming = nameBook(strategy as BookStrategy, full, { fileName: path, ...facts })
    t.match(naming, expected, `${strategy} ${path}`)
  }
})

const number = (text: string) => (text === '' ? null : Number(text))

t.test('shared rows of filename', async t => {
  for (const { filename, title, volume, chapter, strategy } of sharedCases('book:filename')) {
    const naming = nameBook('filename', {}, { fileName: filename, title: 'Embedded', volume: 9 })
    t.equal(naming.title, title)
    if (strategy !== 'book:filename') continue
    t.equal(naming.volume, number(volume), filename)
    // `[c2c]` (cover to cover) describes the scan, it is not a chapter.
    t.equal(naming.chapter, filename.includes('c2c') ? null : number(chapter), filename)
  }
})

t.test('shared rows of metadata_first, smart and series_name', async t => {
  for (const strategy of ['metadata_first', 'smart'] as const) {
    for (const { filename, args, title } of sharedCases(`book:${strategy}`)) {
      const embeddedTitle = /meta title=([^;]+?)(?:;|\)$)/.exec(args)?.[1] ?? null
      const generic = /extra pattern (.+)\)$/.exec(args)?.[1]
      const config = generic ? { additional_generic_patterns: [generic] } : {}
      const full = validateBookStrategy(strategy, strategy === 'smart' ? config : {})
      t.equal(
        nameBook(strategy, full, { fileName: filename, title: embeddedTitle }).title,
        title,
        `${filename} ${args}`,
      )
    }
  }
  for (const { filename, args, title } of sharedCases('book:series_name')) {
    const values = argsOf(args.slice(0, -1))
    const facts: BookFacts = {
      fileName: filename,
      series: values.series,
      number: values.number ? Number(values.number) : null,
      total: Number(values.total ?? 0),
      placedVolume: values.volume?.replaceAll("'", ''),
      chapter: values.chapter ? Number(values.chapter) : null,
    }
    t.equal(nameBook('series_name', {}, facts).title, title, args)
  }
})

t.test('shared rows of custom', async t => {
  for (const { filename, args, title, volume, chapter } of sharedCases('book:custom')) {
    const embeddedTitle = /\[meta title=(.+)\]$/.exec(args)?.[1] ?? null
    const { pattern = '', template, fallback } = argsOf(args.replace(/\)(?:\[meta.*)?$/, ''))
    const config = { pattern, titleTemplate: template, fallback: fallback as BookStrategy }
    const naming = nameBook('custom', config, { fileName: filename, title: embeddedTitle })
    t.equal(naming.title, title, args)
    if (volume) t.equal(naming.volume, Number(volume), args)
    if (chapter) t.equal(naming.chapter, Number(chapter), args)
  }
})

t.test('embedded volume and chapter take precedence over the file name', async t => {
  const book = { fileName: 'Series v03 c016.cbz', volume: 4, title: ' ' }
  t.same(nameBook('metadata_first', {}, book), { title: 'Series v03 c016', volume: 4, chapter: 16 })
})

t.test('an invalid configuration is rejected with the reason', async t => {
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
