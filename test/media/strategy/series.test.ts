// Series strategies.
import t from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import {
  placeBook,
  seriesStrategies,
  validateSeriesStrategy,
} from '../../../lib/media/strategy/series.ts'
import { cpuMs } from '../../kit/suite/cpu-time.ts'
import { argsOf, goldenCases, sharedCases } from './cases.ts'

const name = (strategy: string, config: unknown, path: string, series?: string) =>
  placeBook(strategy, validateSeriesStrategy(strategy, config), path, { series }).name

t.test('the series follows the strategy', async t => {
  for (const { strategy, config, path, facts, expected } of goldenCases('series')) {
    const full = validateSeriesStrategy(strategy, config)
    t.match(placeBook(strategy, full, path, facts), expected, `${strategy} ${path}`)
  }
})

t.test('shared rows of series_volume, flat and publisher_hierarchy', async t => {
  for (const { filename, series } of sharedCases('series:series_volume')) {
    if (series) t.equal(name('series_volume', null, filename), series, filename)
  }
  for (const { filename, args, series, strategy } of sharedCases('series:flat')) {
    if (strategy !== 'series:flat' || series === '') continue
    const pattern = args.startsWith('pattern=') && args.slice(8, -1)
    const config = {
      requireMetadata: args.startsWith('requireMetadata'),
      filenamePatterns: pattern ? [pattern] : [],
    }
    t.equal(name('flat', config, filename), series, filename)
  }
  for (const { filename, args, series } of sharedCases('series:publisher_hierarchy')) {
    t.equal(
      name('publisher_hierarchy', { skip_depth: Number.parseInt(args.slice(5), 10) }, filename),
      series,
    )
  }
})

t.test('shared rows of calibre and custom', async t => {
  for (const { filename, args, series, title } of sharedCases('series:calibre')) {
    if (series === '') continue
    const config = {
      seriesMode: /standalone|by_author|from_metadata/.exec(args)?.[0],
      readOpfMetadata: !args.includes('readOpfMetadata=false'),
    }
    const embedded = /calibre:series=(.+?) index/.exec(args)?.[1]
    const placed = placeBook('calibre', validateSeriesStrategy('calibre', config), filename, {
      series: embedded,
    })
    t.equal(placed.name, series, `${filename} ${args}`)
    if (title) t.equal(placed.title, title)
  }
  for (const { filename, args, series, strategy } of sharedCases('series:custom')) {
    if (strategy !== 'series:custom') continue
    const { pattern = '', template } = argsOf(args.slice(0, -1))
    t.equal(name('custom', { pattern, series_name_template: template }, filename), series, filename)
  }
})

t.test('series_volume_chapter uses the first folder as series, the second as volume', async t => {
  const place = (path: string) => placeBook('series_volume_chapter', {}, path)
  t.match(place('One Piece/Volume 01/Chapter 001.cbz'), {
    key: 'd:One Piece',
    name: 'One Piece',
    volume: 1,
  })
  t.match(place('One Piece/Extras/x.cbz'), { volume: 'Extras' })
  t.match(place('One Piece/Chapter 001.cbz'), { name: 'One Piece', volume: null })
  t.match(place('standalone.cbz'), { key: 'f:standalone.cbz', name: 'standalone', isOneShot: true })
})

t.test('folders with the same name in different places are different series', async t => {
  const key = (path: string) => placeBook('series_volume', {}, path).key
  t.not(key('A/Extras/1.cbz'), key('B/Extras/1.cbz'))
  t.equal(key('A/Extras/1.cbz'), key('A/Extras/2.cbz'))
  t.not(key('1.cbz'), key('2.cbz'), 'files in the root are separate series')
})

t.test('series names are matched ignoring case and punctuation', async t => {
  const key = (path: string) => placeBook('flat', {}, path).key
  t.equal(key('Spider-Man_001.cbz'), key('x/SPIDER-MAN 002.cbz'))
  t.equal(key('+++ 01.cbz').length > 2, true, 'a name without letters has a key')
})

t.test('year and publisher are read from folders', async t => {
  t.match(placeBook('series_volume', {}, 'DC/Batman (2016)/1.cbz'), {
    name: 'Batman (2016)',
    year: 2016,
  })
  const config = validateSeriesStrategy('publisher_hierarchy', {
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

t.test('flat uses the embedded series when no pattern matches', async t => {
  t.equal(name('flat', {}, 'x01.cbz', 'Saga'), 'Saga')
  t.equal(name('flat', { filename_patterns: ['^(x)'] }, 'x01.cbz', 'Saga'), 'x')
})

t.test('configurations are normalized to camelCase with defaults', async t => {
  t.same(validateSeriesStrategy('publisher_hierarchy', { skip_depth: 2 }), {
    skipDepth: 2,
    storeSkippedAs: 'publisher',
  })
  t.same(validateSeriesStrategy('series_volume', null), {})
  t.same(validateSeriesStrategy('calibre', undefined), {
    stripIdSuffix: true,
    seriesMode: 'from_metadata',
    readOpfMetadata: true,
    authorFromFolder: true,
  })
  for (const strategy of seriesStrategies.filter(s => s !== 'custom'))
    validateSeriesStrategy(strategy, {})
})

t.test('an invalid configuration is rejected with the reason', async t => {
  const rejects = (strategy: string, config: unknown, message: RegExp) => {
    try {
      validateSeriesStrategy(strategy, config)
      t.fail(`${strategy} accepted ${JSON.stringify(config)}`)
    } catch (error) {
      t.ok(error instanceof Invalid)
      t.match((error as Error).message, message)
    }
  }
  rejects('nonsense', {}, /Unknown series strategy nonsense/)
  rejects('__proto__', {}, /Unknown series strategy/)
  rejects('custom', {}, /pattern/)
  rejects('custom', { pattern: '[invalid(regex' }, /pattern is not a valid regular expression/)
  rejects('custom', { pattern: '(?=look)ahead' }, /pattern/)
  rejects('custom', { pattern: '(((a{100}){100}){100})' }, /pattern/)
  rejects('flat', { filenamePatterns: ['ok', '('] }, /filenamePatterns\[1\]/)
  rejects('publisher_hierarchy', { skipDepth: 'two' }, /skipDepth/)
  rejects('publisher_hierarchy', { depth: 2 }, /no setting depth/)
  rejects('calibre', { seriesMode: 'other' }, /seriesMode/)
  rejects('flat', [], /object/)
})

t.test('patterns match in linear time', async t => {
  const config = validateSeriesStrategy('custom', { pattern: '^(?P<series>(a+)+)$' })
  const started = cpuMs()
  placeBook('custom', config, `${'a'.repeat(5_000)}!`)
  t.ok(cpuMs() - started < 1_000)
})
