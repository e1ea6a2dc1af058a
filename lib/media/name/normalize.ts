// Normalizes file names before tokenizing: digits, underscores, dots instead of spaces, bare tags at the end.
import { bracketSource, spacedOut } from './dotted.ts'
import { asciiDigits } from './text.ts'

// A file name has at most 255 bytes; the limit bounds the cost of all patterns.
const maxLength = 512
// `Beelzebub_172_RHS`: in names with underscores, capitals after the number are the group.
const groupAfterNumber = /(?<=_[a-z#]{0,4}\d{1,4}(?:\.\d)?(?:v\d)?)_([A-Z]{2,5})(?=(?:_v\d)?_*$)/

// `I Kill Giants.cbr.cbz`, a converted file
const secondExtension = /\.(?:cb[7rtz]|epub|pdf|zip|rar|7z)$/i
// `GetComics.INFO - Deadly Class 033`
const site = /^(?:www\.)?[a-z\d-]{2,40}\.(?:com|info|net|org) +[-–] +(?=\S)/i
// `HellsingVol04`
const gluedMarker = /(?<=\p{Ll})(?=(?:Vol|Ch|Chap|Chapter|Issue)\.?\d)/gu

/** `stem` in NFC with ASCII digits and single spaces, without underscores. */
export function normalizeStem(stem: string): string {
  const text = asciiDigits(stem.slice(0, maxLength).toWellFormed().normalize('NFC'))
    .replace(secondExtension, '')
    .replace(site, '')
    .replace(groupAfterNumber, '_[$1]')
    .replace(gluedMarker, ' ')
    .replaceAll('＃', '#')
    .replace(/__([^_]{1,80})__/g, ' ($1) ')
    // A colon, which is not allowed in the file names of some systems.
    .replace(/(?<=\p{L}|\p{N})_ (?=\S)/gu, ' - ')
    .replace(/[_\s]+/g, ' ')
    .trim()
  const ended = text.replace(/(?<=\d(?: -)?)[ -](END|FIN)(?= ?(?:$|[[(]))/, ' ($1)')
  if (!text.includes(' ') && text.includes('.')) return spacedOut(text)
  return bracketSource(ended)
}
