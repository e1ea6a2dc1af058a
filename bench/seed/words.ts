// Made-up words and names with the frequencies of real ones, the same on every run.

export type Dice = ReturnType<typeof dice>

export function dice(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    next,
    below,
    chance: (p: number) => next() < p,
    pick: <T>(from: readonly T[]) => from[below(from.length)]!,
    /** One of the first more often: Zipf's law, nearly. */
    common: <T>(from: readonly T[]) => from[Math.floor(from.length ** next()) - 1]!,
    hex: (digits: number) =>
      Array.from({ length: digits / 4 }, () => below(65_536).toString(16).padStart(4, '0')).join(
        '',
      ),
  }
}

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

function word(random: Dice): string {
  const syllables = 1 + random.below(3)
  let out = ''
  for (let i = 0; i < syllables; i++) {
    // Accented vowels are rare.
    const vowel = random.common(vowels)
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
export function vocabulary(random: Dice) {
  const latin = ['The', 'Of', 'One', ...distinct(8_000, () => word(random))]
  const han = Array.from({ length: 600 }, (_, i) =>
    String.fromCodePoint(0x4e00 + ((i * 31) % 8_000)),
  )
  const kana = Array.from({ length: 80 }, (_, i) => String.fromCodePoint(0x3042 + i))
  const title = () => {
    if (!random.chance(0.15))
      return Array.from({ length: 1 + random.below(4) }, () => random.common(latin)).join(' ')
    return Array.from({ length: 2 + random.below(6) }, () =>
      random.chance(0.6) ? random.common(han) : random.pick(kana),
    ).join('')
  }
  const person = () => `${random.common(latin)} ${random.pick(latin)}`
  return {
    title,
    genres: distinct(40, () => word(random)),
    tags: distinct(300, () => `${word(random)} ${word(random)}`),
    publishers: distinct(400, () => `${word(random)} Press`),
    people: distinct(15_000, person),
    sentence: (words: number) =>
      Array.from({ length: words }, () => random.common(latin)).join(' '),
  }
}
