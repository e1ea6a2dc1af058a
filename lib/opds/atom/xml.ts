// The one place where XML is made: what goes in is text, and whatever it holds, what comes out is
// well-formed XML 1.0 that even small hand-written parsers read.

const isXml = Symbol()
/** What was written already; everything else is text. */
export type Xml = { readonly [isXml]: string }
/** Those without a value are left out. */
export type Attributes = Record<string, string | number | undefined>
/** Null is nothing. */
export type Content = Xml | string | number | null

// All but the characters of XML 1.0 (§2.2). With the flag u a surrogate is matched only when it is alone.
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu
// KOReader knows decimal references alone. Parsers change returns everywhere, and tabs and line
// breaks in attributes, unless they are references.
const references: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** Text without what XML cannot hold: control characters, halves of characters, U+FFFE, U+FFFF. */
export const clean = (text: string): string => text.replace(forbidden, '')
/** Whether nothing that could be seen would be left of it. */
export const isBlank = (text: string): boolean => clean(text).trim() === ''
const escaped = (text: string) => clean(text).replace(/[&<>\r]/g, found => references[found]!)
const quoted = (text: string) => clean(text).replace(/[&<>"\t\n\r]/g, found => references[found]!)

/** An element of that name; with any content at all, `''` too, it has a closing tag. */
export function element(name: string, attributes: Attributes, ...content: Content[]): Xml {
  let xml = `<${name}`
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) xml += ` ${name}="${quoted(String(value))}"`
  if (content.length === 0) return { [isXml]: `${xml}/>` }
  xml += '>'
  for (const part of content) xml += written(part)
  return { [isXml]: `${xml}</${name}>` }
}

/** An element that holds text alone. */
export const text = (name: string, value: string | number): Xml => element(name, {}, value)

/** UTF-8, and says so; without doctype, comments and instructions, which small parsers trip over. */
export const document = (root: Xml): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${root[isXml]}\n`

function written(content: Content): string {
  if (content === null) return ''
  return typeof content === 'object' ? content[isXml] : escaped(String(content))
}
