// HTML to plain text, for descriptions that may or may not contain HTML.
import { createRequire } from 'node:module'
import { decodeHTMLStrict } from 'entities/decode'
import { lazy } from '../../base/lazy.ts'
import { multiLine } from './text.ts'
import { ownText, type XmlElement } from './xml.ts'

const require = createRequire(import.meta.url)
const htmlparser2 = lazy<typeof import('htmlparser2')>(() => require('htmlparser2'))

const maxLength = 262_144

const words = (text: string) => text.split(' ')
const withBreaks = (count: number, names: string) =>
  words(names).map(name => [name, count] as const)
/** Block elements and the number of line breaks around them: two make an empty line. */
const blockBreaks: ReadonlyMap<string, number> = new Map([
  ...withBreaks(
    1,
    'address article aside body caption center dd div dl dt fieldset figcaption figure footer form ' +
      'header html li main nav ol section tbody tfoot thead tr ul',
  ),
  ...withBreaks(2, 'blockquote h1 h2 h3 h4 h5 h6 hr p pre table'),
])
const inlineElements = new Set(
  words(
    'a abbr acronym b bdi bdo big br cite code del dfn em font i img ins kbd mark nobr o:p q rp rt ' +
      'ruby s samp small span strike strong sub sup td th time tt u var wbr',
  ),
)
/** Elements whose content is not intended for readers. */
const hiddenElements = new Set(words('head noscript script style template'))

const isHtml = (name: string) =>
  blockBreaks.has(name) || inlineElements.has(name) || hiddenElements.has(name)

/** `name` is empty for comments, doctypes and hidden elements. */
type Tag = { name: string; isEnd: boolean; start: number; end: number }

/**
 * Text of an HTML fragment or of plain text: block elements become lines, list items start with a dash,
 * character references are decoded once. Takes linear time.
 */
export function htmlToText(html: string): string {
  const source = html.slice(0, maxLength)
  const tags = withoutHiddenElements(findTags(source))
  const hasLines = tags.some(({ name }) => name === 'br' || blockBreaks.has(name))
  const lines = createLineWriter()
  let position = 0
  for (const tag of [...tags, { name: '', isEnd: true, start: source.length, end: 0 }]) {
    const text = source.slice(position, tag.start)
    // A line break is white space in HTML; without block elements, the source's line breaks remain.
    lines.addText(decodeHTMLStrict(hasLines ? text.replace(/[ \t\r\n\f]+/g, ' ') : text))
    lines.addTag(tag)
    position = tag.end
  }
  const text = lines.text().replaceAll('\u00a0', ' ')
  if (!hasLines) return text
  const trimmed = text.split('\n').map(line => line.trim())
  return trimmed
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** `htmlToText` as bounded text; undefined if it is empty. */
export function htmlToMultiLine(html: string | undefined): string | undefined {
  return html === undefined ? undefined : multiLine(htmlToText(html))
}

/**
 * Text of an element that contains HTML, escaped or as XHTML elements. Ignores other child elements: they
 * belong to a document that closes an element too late.
 */
export function descriptionText(element: XmlElement | undefined): string | undefined {
  if (element === undefined) return undefined
  const hasMarkup = element.children.some(node => typeof node !== 'string' && isHtml(node.name))
  return htmlToMultiLine(hasMarkup ? toMarkup(element) : ownText(element))
}

function toMarkup(element: XmlElement): string {
  return element.children
    .map(node => {
      if (typeof node === 'string') return node.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      if (!isHtml(node.name)) return ''
      // `</br>` would count as another line break.
      const end = node.children.length > 0 ? `</${node.name}>` : ''
      return `<${node.name}>${toMarkup(node)}${end}`
    })
    .join('')
}

/** Tags of HTML elements, comments and doctypes. Anything else, e.g. `<unknown>`, is text. */
function findTags(html: string): Tag[] {
  const { QuoteType, Tokenizer } = htmlparser2()
  const tags: Tag[] = []
  let tag = { name: '', start: 0, attributes: 0, values: 0 }
  const add = (name: string, start: number, end: number, isEnd = false) => {
    if (end > 0) tags.push({ name, isEnd, start, end })
  }
  const onopentagend = (end: number) => {
    // `a <b and c> d` is text: a tag has no attributes, or one with a value.
    if (isHtml(tag.name) && (tag.attributes === 0 || tag.values > 0))
      add(tag.name, tag.start, end + 1)
  }
  const ignore = () => {}
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(start, end) {
        const name = html.slice(start, end).toLowerCase()
        tag = { name, start: start - 1, attributes: 0, values: 0 }
      },
      onattribname: () => void tag.attributes++,
      onattribend: quote => void (tag.values += quote === QuoteType.NoValue ? 0 : 1),
      onopentagend,
      onselfclosingtag: onopentagend,
      onclosetag(start, end) {
        const name = html.slice(start, end).toLowerCase()
        if (isHtml(name)) add(name, start - 2, html.indexOf('>', end) + 1, true)
      },
      // The offset is 0 for an unclosed comment.
      oncomment: (start, end, offset) => offset > 0 && add('', start - 4, end + 1),
      ondeclaration: (start, end) =>
        /^!?doctype\b/i.test(html.slice(start, end)) &&
        add('', html.lastIndexOf('<', start), end + 1),
      oncdata: ignore,
      onattribdata: ignore,
      onattribentity: ignore,
      onprocessinginstruction: ignore,
      ontext: ignore,
      ontextentity: ignore,
      onend: ignore,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return tags
}

/** Merges hidden elements with their content into one tag. Unclosed ones are text. */
function withoutHiddenElements(tags: Tag[]): Tag[] {
  const lastEnds = new Map<string, number>()
  for (const { name, isEnd, start } of tags) if (isEnd) lastEnds.set(name, start)
  const visible: Tag[] = []
  let hidden: Tag | null = null
  for (const tag of tags) {
    if (hidden !== null) {
      if (!tag.isEnd || tag.name !== hidden.name) continue
      visible.push({ name: '', isEnd: true, start: hidden.start, end: tag.end })
      hidden = null
    } else if (!hiddenElements.has(tag.name)) visible.push(tag)
    else if (!tag.isEnd && (lastEnds.get(tag.name) ?? -1) > tag.start) hidden = tag
  }
  return visible
}

function createLineWriter() {
  const parts: string[] = []
  let dueBreaks = 0
  let isItem = false
  return {
    addText(text: string) {
      if (dueBreaks === 0 && !isItem) return void parts.push(text)
      if (text.trim() === '') return
      if (parts.length > 0) parts.push('\n'.repeat(dueBreaks))
      if (isItem) parts.push('- ')
      dueBreaks = 0
      isItem = false
      parts.push(text.trimStart())
    },
    addTag({ name, isEnd }: Tag) {
      if (name === 'br') dueBreaks += 1
      else if (name === 'td' || name === 'th') this.addText(isEnd ? '' : ' ')
      dueBreaks = Math.max(dueBreaks, blockBreaks.get(name) ?? 0)
      if (name === 'li') isItem = !isEnd
    },
    text: () => parts.join(''),
  }
}
