// Content-Disposition header for downloads (RFC 6266): the exact file name in `filename*`, and a plain
// ASCII name in `filename` for clients that ignore `filename*`, such as KOReader.
import { encodeExtended } from 'content-disposition'

/**
 * The header for a file called `name`. The plain name is always quoted and contains nothing that must be
 * escaped or that simple parsers split at. If letters are lost, the end of `id` (a UUID) distinguishes files.
 */
export function attachment(name: string, id: string): string {
  const exactName = name.toWellFormed()
  const asciiName = asciiFileName(exactName, id)
  const extended = asciiName === exactName ? '' : `; filename*=${encodeExtended(exactName)}`
  return `attachment; filename="${asciiName}"${extended}`
}

const maxExtensionLength = 8

function asciiFileName(name: string, id: string): string {
  const dot = name.lastIndexOf('.')
  const hasExtension = dot > 0 && name.length - dot <= maxExtensionLength
  const stem = toAscii(hasExtension ? name.slice(0, dot) : name)
  const extension = hasExtension ? toAscii(name.slice(dot)).text : ''
  // The last digits of a UUIDv7 are random; the first ones are a timestamp.
  return `${stem.text}${stem.isLossy ? ` [${id.slice(-8)}]` : ''}${extension}`
}

function toAscii(text: string) {
  const unaccented = text.normalize('NFKD').replace(/\p{Mark}/gu, '')
  return {
    text: unaccented.replace(/[^\x20-\x7e]/gu, '_').replace(/["\\;]|%(?=[\da-f]{2})/gi, '_'),
    isLossy: /[^\p{ASCII}]/u.test(unaccented),
  }
}
