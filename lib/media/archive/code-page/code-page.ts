// Guesses the code page of names that declare none, from all names together: picks the reading whose letters
// are most common in one of the languages.
import iconv from 'iconv-lite'
import { type CodePage, type Language, languages } from './languages.ts'

// Enough to decide; page names are repetitive.
const maxSampleLength = 2048
const maxSampledNames = 200

export type Reading = { codePage: CodePage; language: Language }

/** The most likely code page of names stored as one character per byte. */
export function guessCodePage(names: Iterable<string>): Reading {
  const sample = sampleOf(names)
  const readings = new Map<CodePage, Text>()
  let best: Reading | null = null
  let lowest = Number.POSITIVE_INFINITY
  for (const language of languages) {
    for (const codePage of language.codePages) {
      const text = readings.get(codePage) ?? measure(decodeAs(codePage, sample))
      readings.set(codePage, text)
      const cost = costIn(language, text)
      if (cost >= lowest) continue
      best = { codePage, language }
      lowest = cost
    }
  }
  return best!
}

/** Whether a text is more plausible than another one in a language. */
export const isMoreUsual = (text: string, other: string, language: Language): boolean =>
  costIn(language, measure(text)) < costIn(language, measure(other))

function sampleOf(names: Iterable<string>): string {
  const distinct = new Set<string>()
  let length = 0
  for (const name of names) {
    if (length > maxSampleLength || distinct.size > maxSampledNames) break
    const words = name.slice(0, maxSampleLength).replace(/[0-9]+/g, '0')
    if (distinct.has(words)) continue
    distinct.add(words)
    length += words.length
  }
  return [...distinct].join('\n')
}

const decoders = new Map<CodePage, InstanceType<typeof TextDecoder>>()

/** Decodes a text stored as one character per byte. */
export function decodeAs(codePage: CodePage, text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  // TextDecoder's single-byte tables differ between Node versions, and it has none for DOS.
  if (/^(cp|koi)/.test(codePage)) return iconv.decode(bytes, codePage)
  const decoder = decoders.get(codePage) ?? new TextDecoder(codePage)
  decoders.set(codePage, decoder)
  return decoder.decode(bytes)
}

// Costs are in bits: how surprising a character is. An ASCII character costs about as much as another letter,
// because a wrong reading may mistake it for the second byte of a character.
const bits = {
  ascii: 5,
  backslash: 12,
  punctuation: 10,
  unusualLetter: 16,
  symbol: 18,
  invalid: 30,
  capital: 2,
  capitalAfterSmall: 8,
  otherScript: 8,
  accentAfterAccent: 2,
  symbolBesideLetter: 4,
}

/** A text's cost in every language, and its characters whose cost differs by language. */
type Text = { characters: string[]; cost: number }

function measure(text: string): Text {
  const characters: string[] = []
  let cost = 0
  let before = traitsOf(' ')
  for (const character of text) {
    const traits = traitsOf(character)
    cost += transitionCost(before, traits)
    if (!traits.isAscii) characters.push(character)
    else cost += character === '\\' ? bits.backslash : bits.ascii
    before = traits
  }
  return { characters, cost }
}

function costIn(language: Language, { characters, cost }: Text): number {
  const letters = lettersOf(language)
  let sum = cost + language.rarity
  for (const character of characters) sum += letters.get(character) ?? costElsewhere(character)
  return sum
}

const letterCosts = new Map<Language, Map<string, number>>()

// Frequencies follow Zipf's law; alphabets are flatter. Most letters of Latin text are ASCII.
const zipf = {
  latin: { exponent: 0.7, share: 1 / 8 },
  alphabet: { exponent: 0.6, share: 1 },
  han: { exponent: 0.75, share: 3 / 4 },
}

function lettersOf(language: Language): Map<string, number> {
  const known = letterCosts.get(language)
  if (known !== undefined) return known
  const { exponent, share } = zipf[language.script]
  const letters = [...new Set(language.letters)]
  const weight = (rank: number) => (1 + rank) ** -exponent
  const total = letters.reduce((sum, _, rank) => sum + weight(rank), 0) / share
  const costs = new Map<string, number>()
  for (const [rank, letter] of letters.entries()) {
    const cost = Math.log2(total / weight(rank))
    costs.set(letter, cost)
    costs.set(letter.toUpperCase(), cost)
  }
  letterCosts.set(language, costs)
  return costs
}

// Punctuation in page names; full-width in Chinese and Japanese.
const punctuation =
  /[“”„‘’‚–—…«»·×№°´¡¿、。「」『』【】（）！？～・〜：＆＋\u3000０-９Ａ-Ｚａ-ｚ々〇]/u
const invalid = /[\ufffd\p{Cc}\p{Co}\p{Cn}]/u
const letter = /[\p{L}\p{M}]/u

function costElsewhere(character: string): number {
  if (punctuation.test(character)) return bits.punctuation
  if (letter.test(character)) return bits.unusualLetter
  return invalid.test(character) ? bits.invalid : bits.symbol
}

type Traits = {
  isAscii: boolean
  isLetter: boolean
  isLatin: boolean
  isCapital: boolean
  isSmall: boolean
}

const traitsOf = (character: string): Traits => ({
  isAscii: character <= '\x7f',
  isLetter: letter.test(character),
  isLatin: /\p{Script=Latin}/u.test(character),
  isCapital: /\p{Lu}/u.test(character),
  isSmall: /\p{Ll}/u.test(character),
})

function transitionCost(before: Traits, traits: Traits): number {
  if (before.isLetter !== traits.isLetter) {
    const isSymbol = (one: Traits) => !one.isLetter && !one.isAscii
    return isSymbol(before) || isSymbol(traits) ? bits.symbolBesideLetter : capitalCost(traits)
  }
  if (!traits.isLetter) return 0
  if (before.isLatin !== traits.isLatin) return bits.otherScript
  if (before.isSmall && traits.isCapital) return bits.capitalAfterSmall
  const isAccent = (one: Traits) => one.isLatin && !one.isAscii
  return isAccent(before) && isAccent(traits) ? bits.accentAfterAccent : 0
}

const capitalCost = ({ isCapital, isAscii }: Traits) => (isCapital && !isAscii ? bits.capital : 0)
