// Descriptions as sources write them, in HTML or not, to plain text.
//
//   description = { comment | doctype | tag | reference | text }
//   tag         = "<" ["/"] name [space attributes] ["/"] ">"     a name that HTML knows; else it is text
// Source of the names and of what starts a line: HTML Living Standard, 4.3 to 4.5 and 15.3. Linear in its input.
import { decodeEntities } from './entities.ts'
import { prose } from './text.ts'
import { ownText, type XmlElement } from './xml.ts'

const longest = 262_144

const words = (text: string) => text.split(' ')
/** Elements that stand in lines of their own, and the line breaks around them: two leave a line empty. */
const breaks: ReadonlyMap<string, number> = new Map([
  ...words(
    'address article aside body caption center dd div dl dt fieldset figcaption figure footer form ' +
      'header html li main nav ol section tbody tfoot thead tr ul',
  ).map((name): [string, number] => [name, 1]),
  ...words('blockquote h1 h2 h3 h4 h5 h6 hr p pre table').map((name): [string, number] => [
    name,
    2,
  ]),
])
const inline = new Set(
  words(
    'a abbr acronym b bdi bdo big br cite code del dfn em font i img ins kbd mark nobr o:p q rp rt ' +
      'ruby s samp small span strike strong sub sup td th time tt u var wbr',
  ),
)
/** What is inside is for browsers. */
const silent = new Set(words('head noscript script style template'))

const isKnown = (name: string) => breaks.has(name) || inline.has(name) || silent.has(name)

type Tag = { name: string; isEnd: boolean; start: number; end: number }

/** Text of an HTML fragment or of plain text: blocks become lines, list items have a dash, references are decoded once. */
export function plainText(html: string): string {
  const text = withoutSilence(html.slice(0, longest))
  const tags = tagsOf(text)
  if (tags.length === 0) return decodeEntities(text).replaceAll('\u00a0', ' ')
  const isFlowing = tags.some(({ name }) => name === 'br' || breaks.has(name))
  // In HTML a line break is a space; without blocks those that were typed are all there are.
  const clean = (part: string) =>
    decodeEntities(isFlowing ? part.replace(/[ \t\r\n\f]+/g, ' ') : part)
  const lines = writer()
  let at = 0
  for (const tag of tags) {
    lines.say(clean(text.slice(at, tag.start)))
    lines.mark(tag)
    at = tag.end
  }
  lines.say(clean(text.slice(at)))
  return isFlowing ? tidied(lines.text()) : lines.text()
}

const tidied = (text: string) =>
  text
    .split('\n')
    .map(line => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** The same as bounded prose; undefined when nothing is left. */
export function plainProse(html: string | undefined): string | undefined {
  return html === undefined ? undefined : prose(plainText(html))
}

/**
 * What an element says that may hold HTML: as escaped text, or as elements of XHTML. Other elements
 * inside belong to a document that closes one too late.
 */
export function descriptionOf(element: XmlElement | undefined): string | undefined {
  if (element === undefined) return undefined
  const isMarkup = element.children.some(node => typeof node !== 'string' && isKnown(node.name))
  return plainProse(isMarkup ? markupOf(element) : ownText(element))
}

function markupOf(element: XmlElement): string {
  return element.children
    .map(node => {
      if (typeof node === 'string') return node.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      if (!isKnown(node.name)) return ''
      // `</br>` would be another line.
      const end = node.children.length > 0 ? `</${node.name}>` : ''
      return `<${node.name}>${markupOf(node)}${end}`
    })
    .join('')
}

/** Without comments, doctypes, scripts and the like; what is not closed stays. */
function withoutSilence(html: string): string {
  const opening = /<!--|<!doctype\b[^<>]*>|<(head|noscript|script|style|template)(?:\s[^<>]*)?>/gi
  const unclosed = new Set<string>()
  let text = ''
  let at = 0
  for (let found = opening.exec(html); found !== null; found = opening.exec(html)) {
    const what = (found[1] ?? found[0].slice(0, 3)).toLowerCase()
    const end = unclosed.has(what) ? null : endOf(html, opening.lastIndex, what)
    if (end === null) unclosed.add(what)
    else {
      text += html.slice(at, found.index)
      at = opening.lastIndex = end
    }
  }
  return text + html.slice(at)
}

function endOf(html: string, from: number, what: string): number | null {
  if (what === '<!d') return from
  const closing = what === '<!-' ? /-->/g : new RegExp(`</${what}[^<>]*>`, 'gi')
  closing.lastIndex = from
  return closing.exec(html) === null ? null : closing.lastIndex
}

function tagsOf(text: string): Tag[] {
  const tags: Tag[] = []
  for (const found of text.matchAll(/<(\/?)([a-z][a-z\d]{0,15}(?::p)?)(\s[^<>]*|\/)?>/gi)) {
    const name = found[2]!.toLowerCase()
    // `a <b and c> d` is no tag: an attribute has a value.
    if (silent.has(name) || !isKnown(name) || !/^\s*\/?$|=/.test(found[3] ?? '')) continue
    const start = found.index
    tags.push({ name, isEnd: found[1] === '/', start, end: start + found[0].length })
  }
  return tags
}

function writer() {
  const parts: string[] = []
  let due = 0
  let isItem = false
  return {
    say(text: string) {
      if (due > 0 || isItem) {
        if (text.trim() === '') return
        if (parts.length > 0) parts.push('\n'.repeat(due))
        if (isItem) parts.push('- ')
        due = 0
        isItem = false
        parts.push(text.trimStart())
      } else parts.push(text)
    },
    mark({ name, isEnd }: Tag) {
      if (name === 'br') due += 1
      else if (name === 'td' || name === 'th') this.say(isEnd ? '' : ' ')
      due = Math.max(due, breaks.get(name) ?? 0)
      if (name === 'li') isItem = !isEnd
    },
    text: () => parts.join('').replaceAll('\u00a0', ' '),
  }
}
