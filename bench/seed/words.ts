// Invented words and names with the frequencies of real ones, the same on every run.
import type { Random } from '../../test/kit/random.ts'

const onsets = [
  'b',
  'br',
  'c',
  'ch',
  'd',
  'dr',
  'f',
  'g',
  'gr',
  'h',
  'j',
  'k',
  'l',
  'm',
  'n',
  'p',
  'r',
  's',
  'sh',
  'st',
  't',
  'tr',
  'v',
  'w',
  'z',
]
const vowels = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ou', 'é', 'ö']
const codas = ['', '', '', 'n', 'r', 's', 'l', 'm', 'ck', 'nd', 'x']

function word(random: Random): string {
  const syllables = 1 + random.below(3)
  let out = ''
  for (let i = 0; i < syllables; i++) {
    // Accented vowels are rare.
    const vowel = random.pickByRank(vowels)
    out += random.pick(onsets) + vowel + random.pick(codas)
  }
  return out[0]!.toUpperCase() + out.slice(1)
}

const distinct = (count: number, make: () => string) => {
  const words = new Set<string>()
  while (words.size < count) words.add(make())
  return [...words]
}

/** Words by frequency: the first stands in every fourth title. */
export function vocabulary(random: Random) {
  const latin = ['The', 'Of', 'One', ...distinct(8_000, () => word(random))]
  const han = Array.from({ length: 600 }, (_, i) =>
    String.fromCodePoint(0x4e00 + ((i * 31) % 8_000)),
  )
  const kana = Array.from({ length: 80 }, (_, i) => String.fromCodePoint(0x3042 + i))
  const title = () => {
    if (!random.chance(0.15))
      return Array.from({ length: 1 + random.below(4) }, () => random.pickByRank(latin)).join(' ')
    return Array.from({ length: 2 + random.below(6) }, () =>
      random.chance(0.6) ? random.pickByRank(han) : random.pick(kana),
    ).join('')
  }
  const person = () => `${random.pickByRank(latin)} ${random.pick(latin)}`
  return {
    title,
    genres: distinct(40, () => word(random)),
    tags: distinct(300, () => `${word(random)} ${word(random)}`),
    publishers: distinct(400, () => `${word(random)} Press`),
    people: distinct(15_000, person),
    sentence: (words: number) =>
      Array.from({ length: words }, () => random.pickByRank(latin)).join(' '),
  }
}
