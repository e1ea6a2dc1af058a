// File name parser.
import t from 'tap'
import { scoreNames } from '../../../bench/filenames.ts'
import { type ParsedName, parseFilename } from '../../../lib/media/name/filename.ts'
import { corpusPath, goldenFile, skipWithoutCorpus } from '../../kit/files/corpus.ts'
import { createRandom } from '../../kit/random.ts'
import { cpuMs } from '../../kit/suite/cpu-time.ts'

const fieldsOf = (stem: string) =>
  Object.fromEntries(
    Object.entries(parseFilename(stem)).filter(([, v]) => v !== null && String(v) !== ''),
  ) as Partial<ParsedName>

t.test('every column of the table is parsed', async t => {
  const [head = '', ...rows] = goldenFile('filenames.tsv').toString().trimEnd().split('\n')
  const columns = head.split('\t').slice(1, -2) as (keyof ParsedName)[]
  t.ok(rows.length > 150)
  for (const row of rows) {
    const [stem = '', ...cells] = row.split('\t')
    const parsed = parseFilename(stem)
    const texts = columns.map(column => {
      const value = parsed[column]
      return Array.isArray(value) ? value.join(', ') : String(value ?? '')
    })
    t.same(texts, cells.slice(0, columns.length), stem)
  }
})

t.test(
  'at least 95 % of the shared tables are parsed correctly',
  { skip: skipWithoutCorpus(315) },
  async t => {
    let right = 0
    let rows = 0
    for (const [source, score] of scoreNames(corpusPath('filename-tables/unified.tsv')!).sources) {
      // The table of Kapowarr also contains covers and sidecars.
      const floor = source === 'kapowarr' ? 0.8 : 0.92
      t.ok(score.right >= floor * score.rows, `${source} ${score.right}/${score.rows}`)
      right += score.right
      rows += score.rows
    }
    t.ok(right >= 0.95 * rows, `${right}/${rows} in all`)
  },
)

t.test('a complete name has series, number, volume, year, count, source and group', async t => {
  t.match(
    fieldsOf('Kartalk v01 #001 - Fear the Brakes (of 04) (2004) (digital) (Son of Ultron-Empire)'),
    {
      series: 'Kartalk',
      volume: 1,
      number: '1',
      title: 'Fear the Brakes',
      count: 4,
      year: 2004,
      edition: 'digital',
      groups: ['Son of Ultron-Empire'],
    },
  )
})

t.test('the version of a release is no group', async t => {
  for (const version of ['(f2)', '[v2]', '{r2}', '(v1.1)'])
    t.same(parseFilename(`Eden v05 (2008) ${version} (Digital)`).groups, [], version)
})

t.test('volumes and chapters are recognized in many languages', async t => {
  const volumes = {
    '幽游白书完全版 第03卷 天下': 3,
    '三体 第十二卷': 12,
    'ワンピース 100巻': 100,
    '죠시라쿠! 1권': 1,
    'Манга 7Том': 7,
    'Манга Том 1-4': 1,
    'นิจนิรันดร์ เล่ม 2': 2,
    'Conquistador - Tome 2': 2,
    'Asterix - T01 - Le Gaulois': 1,
    'Tintin Tome IV': 4,
    'Der Schatz Band 12': 12,
    'Mortadelo Tomo 4': 4,
    'D.I.C.E[Season 001]': 1,
  }
  for (const [stem, volume] of Object.entries(volumes))
    t.equal(parseFilename(stem).volume, volume, stem)
  const chapters = {
    迷你偶像漫画第25话: 25,
    '漫画 第２５話': 25,
    '동의보감 13장': 13,
    'Манга 2 Глава': 2,
    'เด็กคนนี้ เล่ม 1 ตอนที่ 3': 3,
    'One Piece Kapitel 1045': 1045,
    'Serie Chapitre 7': 7,
    'Serie Capítulo 8': 8,
    'Show S01E02': 2,
  }
  for (const [stem, chapter] of Object.entries(chapters)) {
    t.equal(parseFilename(stem).chapter, chapter, stem)
  }
})

t.test('ranges are retained as text; numeric fields contain the start', async t => {
  t.match(fieldsOf('Shimoneta - c001-006 (v01)'), {
    number: '1-6',
    chapter: 1,
    chapterEnd: 6,
    volume: 1,
  })
  t.match(fieldsOf('Dance v16-17 (Digital)'), { volume: 16, volumeEnd: 17 })
  t.match(fieldsOf('Edens Zero v01-31, 276-293 (2018-2025)'), {
    volumeEnd: 31,
    number: '276-293',
    year: 2018,
  })
  t.match(fieldsOf('Batman #10-02'), { number: '10' }, 'a range is ascending')
})

t.test('numbers that are part of a name are not book numbers', async t => {
  const whole = [
    'Star Wars - IG-88',
    'Batman 66 Meets',
    'Cyberpunk 2077',
    'Blade Runner 2049 (2017)',
    'X-23',
  ]
  for (const stem of whole) t.equal(parseFilename(stem).number, null, stem)
  t.equal(parseFilename('Series [c2c] v01').chapter, null)
  t.equal(parseFilename('(C99) Kami-sama').number, null)
  t.match(fieldsOf('Batman (1999)'), { series: 'Batman', year: 1999 })
  t.match(fieldsOf('Kaiju No. 8 036 (2021)'), { series: 'Kaiju No. 8', number: '36' })
  t.match(fieldsOf('19687 Sandman 53'), { series: '19687 Sandman', number: '53' })
})

t.test('forms, languages and titles of single books are recognized', async t => {
  t.match(fieldsOf('Superman Lost Volume 2 (OS)'), { form: 'one-shot', volume: 2 })
  t.match(fieldsOf('Foobar-Man Annual #121'), { form: 'annual', series: 'Foobar-Man Annual' })
  t.match(fieldsOf('Love Hina Omnibus v05 (2015)'), {
    series: 'Love Hina',
    edition: 'Omnibus',
    volume: 5,
  })
  t.match(fieldsOf('Chronicles of Earth - Ch 500 [EN]'), { language: 'en' })
  t.match(fieldsOf('Children of Time (2015)'), {
    series: 'Children of Time',
    title: 'Children of Time',
  })
  t.match(fieldsOf('Children of Ruin (Children of Time, #2)'), {
    series: 'Children of Time',
    number: '2',
  })
  t.match(fieldsOf('Fanbook SP05'), { special: 5, form: 'special' })
})

t.test('digits of a known series are not book numbers', async t => {
  t.equal(parseFilename('Mob Psycho 100 12 The Cave', { series: 'Mob Psycho 100' }).number, '12')
  t.equal(parseFilename('Bleach 567 Down With Snowwhite', { series: 'Bleach' }).number, '567')
})

t.test('a hundred hostile names of 10 KB are parsed in less than a second', async t => {
  const seeds = [
    '(',
    '[(',
    ' 0',
    ' -',
    'v1 ',
    'c',
    '1-',
    'Vol. ',
    '#',
    '第',
    '.',
    'a.',
    '((1',
    '0',
    'a',
  ]
  seeds.push(
    ' of 1',
    '\n',
    '__a',
    '-0-',
    'Jan ',
    '2001-',
    'é',
    '\ud800',
    '1.1.',
    'part ',
    '–',
    'Ch.1,',
  )
  const ends = ['', ')', '1', '!\0']
  const names = seeds.flatMap(seed => ends.map(end => seed.repeat(10_240 / seed.length) + end))
  const started = cpuMs()
  for (const name of names) parseFilename(name, name.length % 2 ? {} : { series: name })
  t.ok(cpuMs() - started < 1_000)
  t.ok(names.length >= 100)
})

t.test('the parser never throws', async t => {
  const { below: next } = createRandom(1)
  const bits = [
    'v',
    'c',
    '#',
    '1',
    '½',
    ' ',
    '(',
    ')',
    '[',
    ']',
    '-',
    '.',
    '2001',
    'of',
    '第',
    '卷',
    '\ud83d',
    '{',
  ]
  for (let i = 0; i < 5_000; i++) {
    const name = Array.from({ length: next(12) }, () => bits[next(bits.length)]).join('')
    const { volume, chapter } = parseFilename(name)
    if (Number.isNaN(volume) || Number.isNaN(chapter)) return void t.fail(JSON.stringify(name))
  }
})
