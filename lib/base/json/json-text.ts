// JSON that is stored and returned as it was written: big numbers, member order, escapes. It stays text from
// request body to response body, because JavaScript would round numbers and move number-like members to the
// front.
import { randomUUID } from 'node:crypto'

/** A value of a record together with its text, which responses contain. */
export type JsonText = { text: string; toJSON: () => string }

// Placeholders for the texts until the serializer has written the JSON around them. Clients cannot forge one,
// because it is never sent.
const mark = randomUUID()
const marked = new RegExp(`"${mark}([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"`, 'g')

export const jsonText = (text: string): JsonText => ({ text, toJSON: () => mark + text })

/** Replaces the placeholders in serialized JSON by their texts. */
export const writeJsonTexts = (json: string): string =>
  json.replace(marked, (_, text) => JSON.parse(`"${text}"`))

const written = new WeakMap<object, string>()

/** Records how these members of a body, which are objects, were written. `text` is the unparsed body. */
export function rememberMembers(body: unknown, text: string, names: ReadonlySet<string>): void {
  if (typeof body !== 'object' || body === null) return
  const present = Object.entries(body).filter(
    ([name, value]) => names.has(name) && typeof value === 'object' && value !== null,
  )
  if (present.length === 0) return
  const members = membersOf(compactJson(text))
  for (const [name, value] of present) {
    const member = members.get(name)
    if (member) written.set(value, member.text)
  }
}

/** The text of an object in a request as it was written, without white space. */
export const writtenText = (value: object): string => written.get(value) ?? JSON.stringify(value)

/** Applies a JSON merge patch (RFC 7396); members that it does not name stay as they were written. */
export function mergeJson(target: string | null, patch: string): string {
  if (!patch.startsWith('{')) return patch
  const members = target?.startsWith('{') ? membersOf(target) : new Map<string, Member>()
  for (const [key, { name, text }] of membersOf(patch))
    if (text === 'null') members.delete(key)
    else members.set(key, { name, text: mergeJson(members.get(key)?.text ?? null, text) })
  return `{${[...members.values()].map(({ name, text }) => `${name}:${text}`).join(',')}}`
}

/** Removes white space outside strings. */
const compactJson = (json: string) => json.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g, '$1')

/** As written; the name includes its quotes. */
type Member = { name: string; text: string }

/** The members of a compact JSON object by name; the last one wins among duplicates, as in JSON.parse. */
function membersOf(json: string): Map<string, Member> {
  const members = new Map<string, Member>()
  let depth = 0
  let name: string | null = null
  let start = 0
  for (const { 0: token, index } of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    if (depth === 1 && name === null && token.startsWith('"')) {
      name = token
      // After the colon.
      start = index + token.length + 1
    } else if (name !== null && ((depth === 1 && token === ',') || depth === 0)) {
      members.set(JSON.parse(name), { name, text: json.slice(start, index) })
      name = null
    }
  }
  return members
}
