// Generator of file names with known meaning: series x markers x number forms x suffixes x tags x languages.
import type { Random } from '../kit/random.ts'

export type GeneratedName = {
  convention: string
  input: string
  series: string
  volume: string
  number: string
  title: string
  year: string
  count: string
}

const latin = [
  'Harbor Lights',
  'The Glass Orchard',
  'X-Agents',
  'Night & Day',
  "The Keeper's Oath",
  'Dr. Vesper',
  'Captain Nova - Origins',
  'Moth, Lamp, Wick',
  'What If...?',
  'Lady S.',
  'Tokyo 24 Hours',
  '7 Lanterns',
  '20th Century Girls',
  'Area 77',
  'Sector 2099',
  'Lantern 2049',
  "Vesper '66",
  'Empire of the 3 Moons',
  'Iron Orchard III',
  'Saint Louis IX',
  'Agent X',
  'Route 66 Revisited',
  'Team #1 Fans',
  'Re - Start',
  'A.B.C. Detectives',
  'Zwölf Türme',
  'Les Années Perdues',
  'El Niño Perdido',
  'Yumi-chan no Natsu!',
  'Level C',
  'Chapter House Tales',
  'Volumes of Blood Moon',
]
const native: Record<string, string[]> = {
  cyrillic: ['Маяки', 'Парад мотыльков', 'Железный сад'],
  greek: ['Φάροι', 'Ο Κήπος'],
  japanese: ['灯台守', '蛾の行列', 'ランプ物語'],
  chinese: ['灯塔', '飞蛾游行'],
  korean: ['나방 행렬', '등대지기'],
  thai: ['ประภาคาร', 'ขบวนผีเสื้อ'],
}

type Language = {
  names: string[]
  volume?: string[]
  chapter?: string[]
  issue?: string[]
  /** Markers after their number. */
  volumeAfter?: string[]
  chapterAfter?: string[]
}
const own = (script: string) => native[script]!
const languages: Record<string, Language> = {
  English: {
    names: latin,
    volume: ['Vol. ', 'Vol.', 'Volume ', 'v', 'V', 'vol ', 'VOL. '],
    chapter: ['Ch. ', 'Ch.', 'Chapter ', 'c', 'ch', 'Episode ', 'Ep. ', 'CH '],
    issue: ['#', 'Issue ', 'Issue #', '# '],
  },
  French: {
    names: latin,
    volume: ['Tome ', 'T', 'T.', 'tome '],
    chapter: ['Chapitre ', 'Chap. ', 'chapitre '],
    issue: ['n° ', 'N°', 'Numéro '],
  },
  German: {
    names: latin,
    volume: ['Band ', 'Bd. ', 'Bd.'],
    chapter: ['Kapitel ', 'Kap. '],
    issue: ['Heft ', 'Nr. ', 'Ausgabe ', 'Nr.'],
    volumeAfter: ['. Band'],
  },
  Spanish: {
    names: latin,
    volume: ['Tomo ', 'Volumen '],
    chapter: ['Capítulo ', 'Cap. ', 'Capitulo '],
    issue: ['Número ', 'nº ', 'Nº'],
  },
  Italian: {
    names: latin,
    volume: ['Volume ', 'Vol. '],
    chapter: ['Capitolo ', 'Cap. '],
    issue: ['Numero ', 'N. ', 'n.'],
  },
  Portuguese: {
    names: latin,
    volume: ['Volume ', 'Tomo '],
    chapter: ['Capítulo ', 'Cap '],
    issue: ['Edição ', 'nº '],
  },
  Dutch: { names: latin, volume: ['Deel '], chapter: ['Hoofdstuk '], issue: ['Nummer ', 'nr. '] },
  Polish: {
    names: latin,
    volume: ['Tom ', 'tom '],
    chapter: ['Rozdział '],
    issue: ['Zeszyt ', 'nr '],
  },
  Hungarian: {
    names: latin,
    volumeAfter: ['. kötet'],
    chapterAfter: ['. fejezet'],
  },
  Turkish: {
    names: latin,
    volume: ['Cilt '],
    chapter: ['Bölüm '],
    volumeAfter: ['. Cilt'],
    chapterAfter: ['. Bölüm'],
  },
  Vietnamese: { names: latin, volume: ['Tập '], chapter: ['Chương '] },
  Russian: {
    names: own('cyrillic'),
    volume: ['Том ', 'том ', 'Т.'],
    chapter: ['Глава ', 'глава ', 'Гл. '],
    issue: ['Выпуск ', '№ ', '№'],
    volumeAfter: [' том'],
    chapterAfter: [' глава'],
  },
  Greek: { names: own('greek'), volume: ['Τόμος '], chapter: ['Κεφάλαιο '], issue: ['Τεύχος '] },
  Japanese: {
    names: own('japanese'),
    volume: ['Vol.', 'v'],
    volumeAfter: ['巻'],
    chapterAfter: ['話'],
  },
  Chinese: { names: own('chinese'), volumeAfter: ['卷', '册'], chapterAfter: ['话'] },
  Korean: { names: own('korean'), volumeAfter: ['권'], chapterAfter: ['화'] },
  Thai: { names: own('thai'), volume: ['เล่ม ', 'เล่มที่ '], chapter: ['ตอนที่ ', 'บทที่ '] },
}
const titles = [
  'The Lantern',
  'Fear the Brakes',
  "Winter's End",
  'Home, at Last',
  'Red',
  'Die Rückkehr',
]
const sources = ['digital', 'Digital', 'c2c', 'webrip', 'Digital-Empire', 'digital-HD']
const groups = ['Lamp-Crew', 'The Last Moth-DCP', 'Son of Vesper', '1r0n', 'LuCaZ', 'F']
const teams = ['LampScans', 'Night Shift', 'Moth & Co', 'HQ Team']
const suffixes = ['', '', '', '', '.1', '.5', 'a', '.MU']

/** One name in a convention chosen at random. */
export function generateName(random: Random): GeneratedName {
  const { pick } = random
  return pick([
    releaseName,
    taggerName,
    mangaName,
    chapterName,
    languageName,
    rangeName,
    scanlationName,
  ])(random)
}

const plain = (digits: string) => digits.replace(/^0+(?=\d)/, '')

function tail({ pick, chance }: Random, year: string): string {
  const tags = [`(${year})`, `(${pick(sources)})`, `(${pick(groups)})`]
  return tags.slice(0, chance(0.5) ? 3 : chance(0.5) ? 2 : 1).join(' ')
}

function blank(convention: string, series: string): GeneratedName {
  return { convention, input: '', series, volume: '', number: '', title: '', year: '', count: '' }
}

function digitsOf({ below, chance }: Random, width: number): string {
  const value = chance(0.1) ? below(1_500) : 1 + below(chance(0.5) ? 30 : 200)
  return String(value).padStart(width, '0')
}

const yearOf = ({ below }: Random) => String(1940 + below(86))

// Saga 001 - Title (of 06) (2012) (digital) (Group)
function releaseName(random: Random): GeneratedName {
  const { pick, chance, below } = random
  const series = pick(latin)
  const name = blank('releases', series)
  const number = digitsOf(random, 3)
  name.number = plain(number)
  name.year = yearOf(random)
  let input = series
  if (chance(0.2)) {
    name.volume = String(1 + below(4))
    input += ` v${name.volume}`
  }
  input += ` ${number}`
  if (chance(0.2)) {
    name.title = pick(titles)
    input += ` - ${name.title}`
  }
  if (chance(0.2)) {
    name.count = String(2 + below(12))
    input += ` (of ${name.count.padStart(2, '0')})`
  }
  input += ` ${tail(random, name.year)}`
  const isUnderscored = chance(0.15)
  return { ...name, input: isUnderscored ? input.replaceAll(' ', '_') : input }
}

// Saga (2012) #1.MU - Title [2012-05-01]
function taggerName(random: Random): GeneratedName {
  const { pick, chance, below } = random
  const series = pick(latin)
  const name = blank('taggers', series)
  const number = digitsOf(random, pick([1, 2, 3])) + pick(suffixes)
  name.number = plain(number)
  name.year = yearOf(random)
  let input = series
  const isYearFirst = chance(0.3)
  if (isYearFirst) input += ` (${name.year})`
  else if (chance(0.3)) {
    name.volume = chance(0.5) ? name.year : String(1 + below(5))
    input += ` ${pick(['Vol. ', 'V', 'v', 'Volume '])}${name.volume}`
  }
  input += ` ${pick(['#', 'Issue ', 'Issue #', 'issue #'])}${number}`
  if (chance(0.4)) {
    name.title = pick(titles)
    input += ` - ${name.title}`
  }
  if (!isYearFirst) {
    const month = String(1 + below(12)).padStart(2, '0')
    input += pick([
      ` (${name.year})`,
      ` [${name.year}-${month}-15]`,
      ` (${name.year}-${month})`,
      ` (May ${name.year})`,
      ` (December, ${name.year})`,
    ])
  }
  return { ...name, input }
}

// Saga v01 - Title (2012) (Digital) (Group)
function mangaName(random: Random): GeneratedName {
  const { pick, chance } = random
  const series = pick(latin)
  const name = blank('volumes', series)
  const number = digitsOf(random, 2)
  name.volume = plain(number)
  let input = `${series} ${pick(['v', 'Vol. ', 'Volume ', '- Vol.', '- Volume ', '- v'])}${number}`
  if (chance(0.3)) {
    name.title = pick(titles)
    input += ` - ${name.title}`
  }
  if (chance(0.7)) {
    name.year = yearOf(random)
    input += ` ${tail(random, name.year)}`
  }
  return { ...name, input }
}

// [Group] Saga - Vol.01 Ch.002.5 - Title
function chapterName(random: Random): GeneratedName {
  const { pick, chance } = random
  const series = pick(latin)
  const name = blank('chapters', series)
  const number = digitsOf(random, pick([1, 2, 3])) + pick(['', '', '.5', '.1'])
  name.number = plain(number)
  const volume = digitsOf(random, 2)
  const isBoth = chance(0.6)
  if (isBoth) name.volume = plain(volume)
  const [v, c] = pick([
    ['v', ' c'],
    ['v', 'c'],
    ['Vol. ', ' Ch. '],
    ['Vol.', ' Ch.'],
    ['Volume ', ' Chapter '],
    ['v', ' ch'],
  ] as const)
  let input = `${series} ${chance(0.3) ? '- ' : ''}`
  input += isBoth
    ? `${v}${volume}${c}${number}`
    : `${c.trim()}${c.endsWith(' ') ? ' ' : ''}${number}`
  if (chance(0.3)) {
    name.title = pick(titles)
    input += ` - ${name.title}`
  }
  const team = ` [${pick(teams)}]`
  const place = random.below(10)
  if (place < 3) input = `${team.trim()} ${input}`
  else if (place < 5) input += team
  return { ...name, input }
}

// Saga Tome 3, Сага Том 3 Глава 4, 서사 3권
function languageName(random: Random): GeneratedName {
  const { pick, chance } = random
  const language = pick(Object.keys(languages))
  const { names, volume, chapter, issue, volumeAfter, chapterAfter } = languages[language]!
  const series = pick(names)
  const name = blank(`language ${language}`, series)
  const number = digitsOf(random, pick([1, 1, 2]))
  const other = digitsOf(random, pick([1, 1, 3]))
  const han = /Japanese|Chinese/.test(language)
  const join = han && chance(0.5) ? '第' : language === 'Korean' && chance(0.3) ? '제' : ''
  const ways = [
    volume && (() => withVolume(`${pick(volume)}${number}`)),
    volumeAfter && (() => withVolume(`${join}${number}${pick(volumeAfter)}`)),
    chapter && (() => withChapter(`${pick(chapter)}${number}`)),
    chapterAfter && (() => withChapter(`${join}${number}${pick(chapterAfter)}`)),
    issue && (() => withChapter(`${pick(issue)}${number}`)),
    volume && chapter && (() => withBoth(`${pick(volume)}${number} ${pick(chapter)}${other}`)),
    volumeAfter &&
      chapterAfter &&
      (() => withBoth(`${join}${number}${pick(volumeAfter)} ${join}${other}${pick(chapterAfter)}`)),
  ].filter(way => way !== undefined)
  const withVolume = (text: string) => {
    name.volume = plain(number)
    return text
  }
  const withChapter = (text: string) => {
    name.number = plain(number)
    return text
  }
  const withBoth = (text: string) => {
    name.volume = plain(number)
    name.number = plain(other)
    return text
  }
  const dash = chance(0.2) && !join ? '- ' : ''
  let input = `${series} ${dash}${pick(ways)()}`
  if (chance(0.3)) {
    name.title = pick(titles)
    input += ` - ${name.title}`
  }
  if (chance(0.2)) {
    name.year = yearOf(random)
    input += ` (${name.year})`
  }
  return { ...name, input }
}

// Saga #1-6, Saga v01-05, Saga c001 - c010
function rangeName(random: Random): GeneratedName {
  const { pick, chance, below } = random
  const series = pick(latin)
  const name = blank('ranges', series)
  const first = 1 + below(40)
  const last = first + 1 + below(60)
  const width = pick([1, 2, 3])
  const [a, b] = [first, last].map(value => String(value).padStart(width, '0'))
  const [kind, text] = pick([
    ['number', `#${a}-${b}`],
    ['number', `#${a} - #${b}`],
    ['number', `#${a} – ${b}`],
    ['number', `#${a}-#${b}`],
    ['number', `c${a}-${b}`],
    ['number', `c${a} - c${b}`],
    ['number', `Ch. ${a}-${b}`],
    ['number', `Chapters ${a}-${b}`],
    ['volume', `v${a}-${b}`],
    ['volume', `v${a}-v${b}`],
    ['volume', `Vol. ${a}-${b}`],
    ['volume', `Volumes ${a}-${b}`],
    ['volume', `Tomes ${a}-${b}`],
    ['volume', `Band ${a}-${b}`],
  ] as const)
  name[kind] = `${first}-${last}`
  let input = `${series} ${text}`
  if (chance(0.5)) {
    name.year = yearOf(random)
    input += ` (${name.year}-${Math.min(2030, Number(name.year) + 3)}) (${pick(sources)})`
  }
  return { ...name, input }
}

// [Group] Saga - 012v2 [HQ]
function scanlationName(random: Random): GeneratedName {
  const { pick, chance } = random
  const series = pick(latin)
  const name = blank('scanlation', series)
  const number = digitsOf(random, 3)
  name.number = plain(number)
  const version = chance(0.2) ? pick(['v2', ' v2', ' (v2)', ' [v3]', ' {r2}']) : ''
  const marked = `${pick(['c', 'ch.', 'Ch.', 'Chapter ', 'ch'])}${number}`
  let input = `${chance(0.6) ? `[${pick(teams)}] ` : ''}${series} ${chance(0.4) ? '- ' : ''}${marked}${version}`
  if (chance(0.3)) input += ` [${pick(teams)}]`
  if (chance(0.2)) input += ` [${pick(['EN', 'eng', 'HQ', 'Digital'])}]`
  return { ...name, input: chance(0.25) ? input.replaceAll(' ', '_') : input }
}
