// Lists of names: distinguishes commas and conjunctions that separate names from those within a name.

// Generational and academic suffixes, and legal forms of companies; short ones that are also words only as
// abbreviations.
const suffix =
  /^(?:jr|sr|ph\.?\s?d|m\.?d|esq|inc|incorporated|ltd|limited|l\.?l\.?c|l\.?l\.?p|plc|corp|corporation|co|gmbh|ltda?|lda|s\.?r\.?l|s\.?p\.?a|s\.?r\.?o|s\.?a\.?r\.?l|d\.?o\.?o|kft|pty|pte|sdn bhd|(?:sp\. )?z o\.?o|gmbh & co\.? kg|& ?(?:co|cie|sons?|bros))\.?(?: (?:inc|ltd|llc|kg|limited|de c\.v)\.?)*$/i
const shortSuffix =
  /^(?:I{2,3}|IV|AG|KG|SA|AB|AS|NV|BV|SL|LP|KK|OY|OHG|S\.A|N\.V|B\.V|S\.L|K\.K|A\/S|L\.P)\.?$/
// `Houghton, Mifflin and Company`: the second half of a company name.
const firm =
  /\s(?:and|&|et|und|y)\s+(?:company|co|sons?|brothers|bros|cie|söhne|fils|hijos|daughters)\.?$/i

const isSuffix = (part: string) => suffix.test(part) || shortSuffix.test(part)

/** Reattaches suffixes and second halves to the names of a text that was split at commas. */
export function joinSuffixes(parts: Iterable<string>): string[] {
  const names: string[] = []
  for (const raw of parts) {
    const part = raw.trim()
    const last = names.at(-1)
    const isSecondHalf = last !== undefined && !last.includes(' ') && firm.test(part)
    if (last !== undefined && (isSuffix(part) || isSecondHalf))
      names[names.length - 1] += `, ${part}`
    else if (part !== '') names.push(part)
  }
  return names
}

const conjunction = /\s+(?:&|and)\s+/i
const corporateWord =
  /(?:^|[\s,])(?:inc|ltd|llc|plc|corp|corporation|co|company|gmbh|publish(?:ing|ers?)|press|books|comics|media|studios?|sons|brothers|bros|verlag|éditions)\.?$/i

/** Splits `A; B`, `A & B` and `A and B`, but not company names: `Simon & Schuster, Inc.` */
export function splitConjunctions(text: string): string[] {
  return text.split(';', 100).flatMap(part => {
    const names = part.trim().split(conjunction, 100)
    const isCompany =
      names.length === 2 &&
      names.some(name => corporateWord.test(name)) &&
      names.some(name => !/\s/.test(withoutSuffix(name)))
    return isCompany ? [part.trim()] : names
  })
}

const withoutSuffix = (name: string) => joinSuffixes(name.split(','))[0]!.split(',')[0]!.trim()
