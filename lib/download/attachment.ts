// The name under which an answer is to be saved (RFC 6266): the true one for those who read
// `filename*`, and one of plain ASCII for those who do not, KOReader among them.
import { encodeExtended } from 'content-disposition'

/**
 * Content-Disposition of a file. The plain name is always quoted, and holds nothing that is escaped or
 * split at by simple readers; where letters are lost `id`, a UUID, keeps files apart.
 */
export function attachment(name: string, id: string): string {
  const whole = name.toWellFormed()
  const plain = plainName(whole, id)
  const extended = plain === whole ? '' : `; filename*=${encodeExtended(whole)}`
  return `attachment; filename="${plain}"${extended}`
}

const longestEnding = 8

function plainName(name: string, id: string): string {
  const dot = name.lastIndexOf('.')
  const hasEnding = dot > 0 && name.length - dot <= longestEnding
  const stem = ascii(hasEnding ? name.slice(0, dot) : name)
  const ending = hasEnding ? ascii(name.slice(dot)).text : ''
  // Its last digits: those in front are the time.
  return `${stem.text}${stem.hasLost ? ` [${id.slice(-8)}]` : ''}${ending}`
}

function ascii(text: string) {
  const bare = text.normalize('NFKD').replace(/\p{Mark}/gu, '')
  return {
    text: bare.replace(/[^\x20-\x7e]/gu, '_').replace(/["\\;]|%(?=[\da-f]{2})/gi, '_'),
    hasLost: /[^\p{ASCII}]/u.test(bare),
  }
}
