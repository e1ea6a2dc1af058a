// Generator of file names with known meaning: series x markers x number forms x suffixes x tags x languages.
import type { Random } from '../../kit/random.ts'
import { languages, latin } from './generate-words.ts'

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
    sceneName,
    magazineName,
    seasonName,
    formName,
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

const scenes = ['Harbor Lights', 'The Glass Orchard', 'Lantern', 'Moth Parade', 'Night and Day']

// Saga.v01.2012.Digital.Group
function sceneName(random: Random): GeneratedName {
  const { pick, chance } = random
  const series = pick(scenes)
  const name = blank('Scene', series)
  name.year = yearOf(random)
  const number = digitsOf(random, 3)
  const isVolume = chance(0.4)
  name[isVolume ? 'volume' : 'number'] = plain(number)
  const marked = isVolume ? `${pick(['v', 'Vol.', 'Volume.'])}${number}` : number
  const end = pick([
    'Digital',
    'Digital-Empire',
    'Retail.Comic.eBook-LAMP',
    'c2c',
    'Manga.eBook-NIGHT',
  ])
  const input = `${series.replaceAll(' ', '.')}.${marked}.${name.year}.${end}`
  return { ...name, input }
}

const monthNames: [string, number][] = [
  ['January', 1],
  ['May', 5],
  ['Sept', 9],
  ['März', 3],
  ['août', 8],
  ['Gennaio', 1],
  ['diciembre', 12],
]

// Lantern Monthly - 12 May 2023
function magazineName(random: Random): GeneratedName {
  const { pick, chance, below } = random
  const series = pick(['Lantern Monthly', 'Le Phare', 'Die Laterne', 'Harbor & Sail', 'PC Lamp UK'])
  const name = { ...blank('magazines', series), title: series }
  name.year = String(1950 + below(75))
  const [month, value] = pick(monthNames)
  const two = String(value).padStart(2, '0')
  const date = pick([
    `${month} ${name.year}`,
    `12 ${month} ${name.year}`,
    `${name.year}-${two}`,
    `${name.year}-${two}-12`,
    `${name.year}${two}12`,
  ])
  let input = `${series} ${chance(0.6) ? '- ' : ''}${date}`
  if (chance(0.4)) {
    const number = digitsOf(random, 1)
    name.number = plain(number)
    name.title = ''
    input = `${series} - ${pick(['Issue ', 'No. ', '#', 'Nr. '])}${number} (${date})`
  }
  return { ...name, input }
}

// Saga - Season 2 Ep. 14, Saga S02E14, Saga (S2) Episode 14
function seasonName(random: Random): GeneratedName {
  const { pick, chance, below } = random
  const series = pick(latin)
  const name = blank('seasons', series)
  const number = digitsOf(random, pick([1, 2, 3]))
  const season = 1 + below(6)
  name.volume = String(season)
  name.number = plain(number)
  const two = String(season).padStart(2, '0')
  let input = `${series} ${pick([
    `- Season ${season} Ep. ${number}`,
    `Season ${season} Episode ${number}`,
    `S${two}E${number.padStart(2, '0')}`,
    `S${season} Ep ${number}`,
    `- ${season}x${number.padStart(2, '0')}`,
    `(S${season}) Episode ${number}`,
    `[Season ${season}] Ep. ${number}`,
  ])}`
  if (chance(0.3)) {
    name.title = pick(titles)
    input += ` - ${name.title}`
  }
  return { ...name, input }
}

// Saga v01 HC (2004), Saga TPB v02, Saga (One-Shot)
function formName(random: Random): GeneratedName {
  const { pick, chance } = random
  const series = pick(latin)
  const name = blank('forms', series)
  const form = pick(['HC', 'TPB', 'Hardcover', 'Trade Paperback', 'Omnibus', 'Deluxe Edition'])
  const number = digitsOf(random, 2)
  name.volume = plain(number)
  let input = pick([
    `${series} v${number} ${form}`,
    `${series} ${form} v${number}`,
    `${series} - Vol. ${number} (${form})`,
    `${series} (${form}) Volume ${number}`,
  ])
  if (chance(0.5)) {
    name.year = yearOf(random)
    input += ` (${name.year})`
  }
  return { ...name, input }
}
