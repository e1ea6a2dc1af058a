// Series strategies: where the books of a library belong.
import t from 'tap'
import { Invalid } from '../../lib/errors.ts'
import { placeBook, seriesStrategies, validateStrategy } from '../../lib/strategy/series.ts'
import { argsOf, casesOf } from './cases.ts'

const name = (strategy: string, config: unknown, path: string, series?: string) =>
  placeBook(strategy, validateStrategy(strategy, config), path, { series }).name

t.test('rows of series_volume, flat and publisher_hierarchy', async t => {
  for (const { filename, series } of casesOf('series:series_volume')) {
    if (series) t.equal(name('series_volume', null, filename), series, filename)
  }
  for (const { filename, args, series, strategy } of casesOf('series:flat')) {
    if (strategy !== 'series:flat' || series === '') continue
    const pattern = args.startsWith('pattern=') && args.slice(8, -1)
    const config = {
      requireMetadata: args.startsWith('requireMetadata'),
      filenamePatterns: pattern ? [pattern] : [],
    }
    t.equal(name('flat', config, filename), series, filename)
  }
  for (const { filename, args, series } of casesOf('series:publisher_hierarchy')) {
    t.equal(
      name('publisher_hierarchy', { skip_depth: Number.parseInt(args.slice(5), 10) }, filename),
      series,
    )
  }
})

t.test('rows of calibre and custom', async t => {
  for (const { filename, args, series, title } of casesOf('series:calibre')) {
    if (series === '') continue
    const config = {
      seriesMode: /standalone|by_author|from_metadata/.exec(args)?.[0],
      readOpfMetadata: !args.includes('readOpfMetadata=false'),
    }
    const embedded = /calibre:series=(.+?) index/.exec(args)?.[1]
    const placed = placeBook('calibre', validateStrategy('calibre', config), filename, {
      series: embedded,
    })
    t.equal(placed.name, series, `${filename} ${args}`)
    if (title) t.equal(placed.title, title)
  }
  for (const { filename, args, series, strategy } of casesOf('series:custom')) {
    if (strategy !== 'series:custom') continue
    const { pattern = '', template } = argsOf(args.slice(0, -1))
    t.equal(name('custom', { pattern, series_name_template: template }, filename), series, filename)
  }
})

t.test(
  'series_volume_chapter takes the first folder for the series, the second for the volume',
  async t => {
    const place = (path: string) => placeBook('series_volume_chapter', {}, path)
    t.match(place('One Piece/Volume 01/Chapter 001.cbz'), {
      key: 'd:One Piece',
      name: 'One Piece',
      volume: 1,
    })
    t.match(place('One Piece/Extras/x.cbz'), { volume: 'Extras' })
    t.match(place('One Piece/Chapter 001.cbz'), { name: 'One Piece', volume: null })
    t.match(place('standalone.cbz'), { key: 'f:standalone.cbz', name: 'standalone', oneShot: true })
  },
)

t.test('folders of one name in two places are two series', async t => {
  const key = (path: string) => placeBook('series_volume', {}, path).key
  t.not(key('A/Extras/1.cbz'), key('B/Extras/1.cbz'))
  t.equal(key('A/Extras/1.cbz'), key('A/Extras/2.cbz'))
  t.not(key('1.cbz'), key('2.cbz'), 'files in the root do not fold together')
})

t.test('names are matched without case and punctuation', async t => {
  const key = (path: string) => placeBook('flat', {}, path).key
  t.equal(key('Spider-Man_001.cbz'), key('x/SPIDER-MAN 002.cbz'))
  t.equal(key('+++ 01.cbz').length > 2, true, 'a name of signs has a key as well')
})

t.test('folders tell the year and the publisher', async t => {
  t.match(placeBook('series_volume', {}, 'DC/Batman (2016)/1.cbz'), {
    name: 'Batman (2016)',
    year: 2016,
  })
  const config = validateStrategy('publisher_hierarchy', {
    skipDepth: 2,
    storeSkippedAs: 'imprint',
  })
  t.match(placeBook('publisher_hierarchy', config, 'DC/Vertigo/Sandman/1.cbz'), {
    name: 'Sandman',
    imprint: 'DC/Vertigo',
    publisher: null,
    folder: 'DC/Vertigo/Sandman',
  })
})

t.test('an embedded series places a flat file that no pattern knows', async t => {
  t.equal(name('flat', {}, 'x01.cbz', 'Saga'), 'Saga')
  t.equal(name('flat', { filename_patterns: ['^(x)'] }, 'x01.cbz', 'Saga'), 'x')
})

t.test('configurations are stored in one spelling with their defaults', async t => {
  t.same(validateStrategy('publisher_hierarchy', { skip_depth: 2 }), {
    skipDepth: 2,
    storeSkippedAs: 'publisher',
  })
  t.same(validateStrategy('series_volume', null), {})
  t.same(validateStrategy('calibre', undefined), {
    stripIdSuffix: true,
    seriesMode: 'from_metadata',
    readOpfMetadata: true,
    authorFromFolder: true,
  })
  for (const strategy of seriesStrategies.filter(s => s !== 'custom'))
    validateStrategy(strategy, {})
})

t.test('what is wrong with a configuration is said', async t => {
  const refuses = (strategy: string, config: unknown, about: RegExp) => {
    try {
      validateStrategy(strategy, config)
      t.fail(`${strategy} took ${JSON.stringify(config)}`)
    } catch (error) {
      t.ok(error instanceof Invalid)
      t.match((error as Error).message, about)
    }
  }
  refuses('nonsense', {}, /no series strategy nonsense/)
  refuses('__proto__', {}, /no series strategy/)
  refuses('custom', {}, /pattern/)
  refuses('custom', { pattern: '[invalid(regex' }, /pattern is no valid regular expression/)
  refuses('custom', { pattern: '(?=look)ahead' }, /pattern/)
  refuses('custom', { pattern: '(((a{100}){100}){100})' }, /pattern/)
  refuses('flat', { filenamePatterns: ['ok', '('] }, /filenamePatterns\[1\]/)
  refuses('publisher_hierarchy', { skipDepth: 'two' }, /skipDepth/)
  refuses('publisher_hierarchy', { depth: 2 }, /no setting depth/)
  refuses('calibre', { seriesMode: 'other' }, /seriesMode/)
  refuses('flat', [], /object/)
})

t.test('a pattern that would backtrack for ever does not', async t => {
  const config = validateStrategy('custom', { pattern: '^(?P<series>(a+)+)$' })
  const started = performance.now()
  placeBook('custom', config, `${'a'.repeat(5_000)}!`)
  t.ok(performance.now() - started < 1_000)
})
