// XML writer: the only place where XML is built. Any text results in well-formed XML 1.0 that simple
// hand-written parsers can read.

const isXml = Symbol()
/** Serialized XML; any other value is text. */
export type Xml = { readonly [isXml]: string }
/** Undefined attributes are omitted. */
export type Attributes = Record<string, string | number | undefined>
/** Null writes nothing. */
export type Content = Xml | string | number | null

// Everything except the characters of XML 1.0 (§2.2). With the `u` flag only lone surrogates match.
const invalidChars = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu
// KOReader only understands decimal references. Parsers normalize carriage returns everywhere, and tabs and
// line breaks in attributes, unless they are references.
const references: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** Text without characters that XML cannot contain: control characters, lone surrogates, U+FFFE, U+FFFF. */
export const removeInvalidChars = (text: string): string => text.replace(invalidChars, '')
/** Whether the text has no visible character in XML. */
export const isBlank = (text: string): boolean => removeInvalidChars(text).trim() === ''
const escapeText = (text: string) =>
  removeInvalidChars(text).replace(/[&<>\r]/g, char => references[char]!)
const escapeAttribute = (text: string) =>
  removeInvalidChars(text).replace(/[&<>"\t\n\r]/g, char => references[char]!)

/** An element; any content, even `''`, adds a closing tag. */
export function element(name: string, attributes: Attributes, ...content: Content[]): Xml {
  let xml = `<${name}`
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) xml += ` ${name}="${escapeAttribute(String(value))}"`
  if (content.length === 0) return { [isXml]: `${xml}/>` }
  xml += '>'
  for (const part of content) xml += serialize(part)
  return { [isXml]: `${xml}</${name}>` }
}

/** An element that contains only text. */
export const text = (name: string, value: string | number): Xml => element(name, {}, value)

/**
 * Declares UTF-8; omits doctype, comments and processing instructions, which simple parsers cannot handle.
 */
export const document = (root: Xml): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${root[isXml]}\n`

function serialize(content: Content): string {
  if (content === null) return ''
  return typeof content === 'object' ? content[isXml] : escapeText(String(content))
}
