// File names: the peers' tables, our conventions, and names made to hurt.
import t from 'tap'
import { scoreNames } from '../../bench/filenames.ts'
import { type ParsedName, parseFilename } from '../../lib/name/filename.ts'

const says = (stem: string) =>
  Object.fromEntries(
    Object.entries(parseFilename(stem)).filter(([, v]) => v !== null && String(v) !== ''),
  ) as Partial<ParsedName>

t.test(
  'nine rows in ten of every peer with names of books are right in all they state',
  async t => {
    const { sources } = scoreNames()
    let right = 0
    let rows = 0
    for (const [source, score] of sources) {
      // Kapowarr's table holds pages of image folders as well.
      const floor = source === 'kapowarr' ? 0.75 : 0.9
      t.ok(score.right >= floor * score.rows, `${source} ${score.right}/${score.rows}`)
      right += score.right
      rows += score.rows
    }
    t.ok(right >= 0.94 * rows, `${right}/${rows} in all`)
  },
)

t.test('a full name gives series, number, volume, year, count, source and group', async t => {
  t.match(
    says('Kartalk v01 #001 - Fear the Brakes (of 04) (2004) (digital) (Son of Ultron-Empire)'),
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

t.test('volumes and chapters are read in the words of many languages', async t => {
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

t.test('ranges keep their text and give numeric fields their start', async t => {
  t.match(says('Shimoneta - c001-006 (v01)'), {
    number: '1-6',
    chapter: 1,
    chapterEnd: 6,
    volume: 1,
  })
  t.match(says('Dance v16-17 (Digital)'), { volume: 16, volumeEnd: 17 })
  t.match(says('Edens Zero v01-31, 276-293 (2018-2025)'), {
    volumeEnd: 31,
    number: '276-293',
    year: 2018,
  })
  t.match(says('Batman #10-02'), { number: '10' }, 'a range does not run backwards')
})

t.test('what looks like a number but is none stays in the name', async t => {
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
  t.match(says('Batman (1999)'), { series: 'Batman', year: 1999 })
  t.match(says('Kaiju No. 8 036 (2021)'), { series: 'Kaiju No. 8', number: '36' })
  t.match(says('19687 Sandman 53'), { series: '19687 Sandman', number: '53' })
})

t.test('forms, languages and the titles of single books are told', async t => {
  t.match(says('Superman Lost Volume 2 (OS)'), { form: 'one-shot', volume: 2 })
  t.match(says('Foobar-Man Annual #121'), { form: 'annual', series: 'Foobar-Man Annual' })
  t.match(says('Love Hina Omnibus v05 (2015)'), {
    series: 'Love Hina',
    edition: 'Omnibus',
    volume: 5,
  })
  t.match(says('Chronicles of Earth - Ch 500 [EN]'), { language: 'en' })
  t.match(says('Children of Time (2015)'), {
    series: 'Children of Time',
    title: 'Children of Time',
  })
  t.match(says('Children of Ruin (Children of Time, #2)'), {
    series: 'Children of Time',
    number: '2',
  })
  t.match(says('Fanbook SP05'), { special: 5, form: 'special' })
})

t.test('a known series makes its own digits part of the name', async t => {
  t.equal(parseFilename('Mob Psycho 100 12 The Cave', { series: 'Mob Psycho 100' }).number, '12')
  t.equal(parseFilename('Bleach 567 Down With Snowwhite', { series: 'Bleach' }).number, '567')
})

t.test('a hundred hostile names of 10 KB take less than a second', async t => {
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
  const started = performance.now()
  for (const name of names) parseFilename(name, name.length % 2 ? {} : { series: name })
  t.ok(performance.now() - started < 1_000)
  t.ok(names.length >= 100)
})

t.test('no text makes the parser throw', async t => {
  let seed = 1
  const next = (below: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed % below
  }
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
  for (let i = 0; i < 20_000; i++) {
    const name = Array.from({ length: next(12) }, () => bits[next(bits.length)]).join('')
    const { volume, chapter } = parseFilename(name)
    if (Number.isNaN(volume) || Number.isNaN(chapter)) return void t.fail(JSON.stringify(name))
  }
})
