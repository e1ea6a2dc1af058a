// The words left when the markers are taken out: series and titles without their trimmings.

const leading = /^[\s\-–—,;:~.]+(?=\S)|^['’](?!.*['’](?:\s|$))/u
const trailing = /[\s\-–—,;:~+]{1,50}$/u
const ordinal = /^(?:\d{1,3}\. |0\d{1,2} )(?=\p{L})/u
// French scene names open with the kind of the work.
const kind = /^(?:bd fr|manga|comic)\s?-\s?/iu
const editionEnd =
  /(?: -)? ((?:(?:deluxe|complete|collector['’]?s|master|special|anniversary|definitive|library|perfect|omnibus) edition)|omnibus|uncensored|trade paper ?back|tpb|hard ?cover|one[- ]?shot)$/iu
const specialEnd = /(?: -) (?:specials?|omake|bonus|extras?)$/iu
const noise = /(?<![\p{L}\p{N}])(?:c2c|uncensored|read online)(?![\p{L}\p{N}])/giu
const tails = /^(?:\+|of \d+|\d+ of \d+ covers)/iu

/** The first piece of `text` that holds a name, or null. Pieces are parted by taken brackets and dates. */
export function seriesText(text: string): string | null {
  for (const piece of text.split(/[\n\t]/)) {
    const name = trimmed(piece).replace(kind, '')
    if (/[\p{L}\p{N}!?]/u.test(name)) return name.replace(ordinal, '')
  }
  return null
}

/** The first piece of `text` that tells something, or null. */
export function titleText(text: string): string | null {
  for (const piece of text.split(/[\n\t]/)) {
    const title = trimmed(piece.replace(noise, ' ').replace(/ {2,}/g, ' '))
    if (/[\p{L}\p{N}]/u.test(title) && !tails.test(title)) return title
  }
  return null
}

/** Cuts `Omnibus Edition` and the like off the end of a series' name. */
export function cutEdition(name: string): { name: string; edition: string | null } {
  const found = editionEnd.exec(name)
  if (found && found.index > 0)
    return { name: trimmed(name.slice(0, found.index)), edition: found[1]! }
  return { name: name.replace(specialEnd, ''), edition: null }
}

function trimmed(text: string): string {
  return text.trim().replace(leading, '').replace(leading, '').replace(trailing, '')
}
