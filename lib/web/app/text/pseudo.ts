// Pseudo-locale: the English texts, legible, but accented, longer and shown from right to left. What stays plain is not
// translated, and what has no closing bracket is cut off or joined from parts.
import type { Catalog } from './catalog.ts'

const plain = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const accented = [...'áƀćđéƒǵĥíĵķĺḿńóṕɋŕśťúṽŵẋýžÁƁĆĐÉƑǴĤÍĴĶĹḾŃÓṔɊŔŚŤÚṼŴẊÝŽ']
// About as much longer as German and Finnish are.
const growth = 0.35
const filler = ' öñé ťŵó ťĥŕéé ƒóúŕ ƒíṽé śíẋ śéṽéń éíǵĥť ńíńé ťéń'

export const pseudoTexts = (english: Catalog): Catalog =>
  Object.fromEntries(
    Object.entries(english).map(([key, text]) => [
      key,
      typeof text === 'string'
        ? pseudoText(text)
        : Object.fromEntries(
            Object.entries(text).map(([category, form]) => [category, pseudoText(form)]),
          ),
    ]),
  )

/** Placeholders keep their names. */
function pseudoText(text: string): string {
  const body = text.replace(/\{\w+\}|[a-zA-Z]/g, match =>
    match.length > 1 ? match : accented[plain.indexOf(match)]!,
  )
  const added = Math.ceil(text.replace(/\{\w+\}/g, '').length * growth)
  // Isolated, so that brackets and numbers keep their places although the letters are Latin.
  return `\u2066[${body}${filler
    .repeat(Math.ceil(added / filler.length))
    .slice(0, added)
    .trimEnd()}]\u2069`
}
