// Parser for XMP, PDF's metadata packet.
// packet:      … <rdf:RDF> description* </rdf:RDF> …
// description: <rdf:Description simple="…"> property* ; properties of Dublin Core, PRISM, calibre
// property:    text | <rdf:Alt | rdf:Seq | rdf:Bag> <rdf:li xml:lang="…">text</rdf:li>* | nested properties
import { partialDate } from './date.ts'
import { unescapeText } from './decode.ts'
import { htmlToMultiLine } from './html.ts'
import { findIsbn, isbn13 } from './isbn.ts'
import { canonicalLanguage } from './language.ts'
import type { Metadata } from './metadata.ts'
import { splitConjunctions } from './names.ts'
import { omitUndefined, parseDecimal, singleLine, uniqueNames } from './text.ts'
import type { Author } from './values.ts'
import { childOf, childrenOf, descendantsOf, parseXml, textOf, type XmlElement } from './xml.ts'

/** Never throws. Dates are publication dates, not file dates. */
export function readXmp(bytes: Uint8Array): { metadata: Metadata; warnings: string[] } {
  const { root, warnings } = parseXml(bytes)
  if (!root) return { metadata: {}, warnings }
  const descriptions = [root, ...descendantsOf(root)].filter(
    element => element.name === 'description' && element.prefix.toLowerCase() === 'rdf',
  )
  const find = (prefix: string, name: string) => findProperty(descriptions, prefix, name)
  const first = (prefix: string, name: string) => find(prefix, name)[0]
  const metadata = omitUndefined<Metadata>({
    title: singleLine(first('dc', 'title')),
    authors: authorsOf(find('dc', 'creator')),
    summary: htmlToMultiLine(first('dc', 'description')),
    publisher: singleLine(first('dc', 'publisher')),
    tags: uniqueNames(find('dc', 'subject')),
    language:
      find('dc', 'language')
        .map(canonicalLanguage)
        .find(tag => tag !== null) ?? undefined,
    ...partialDate(first('dc', 'date') ?? first('prism', 'publicationdate') ?? ''),
    ...seriesOf(descriptions, first),
    isbn: isbnOf(descriptions, find),
  })
  return { metadata, warnings }
}

/** The values of a property in all descriptions, in any notation; the default language first. */
function findProperty(descriptions: XmlElement[], prefix: string, name: string): string[] {
  const values: string[] = []
  for (const description of descriptions) {
    for (const property of childrenOf(description, name)) {
      if (!property.prefix.toLowerCase().startsWith(prefix)) continue
      const items = childrenOf(childrenOf(property)[0], 'li')
      const isDefault = (item: XmlElement) => item.attributes.get('lang') === 'x-default'
      const ordered = [...items.filter(isDefault), ...items.filter(item => !isDefault(item))]
      values.push(...(ordered.length > 0 ? ordered : [property]).map(textOf))
    }
    // Parsed attributes have no prefix; these names are unambiguous.
    const isUnambiguous = prefix === 'dc' || name.endsWith('isbn')
    const attribute = isUnambiguous ? description.attributes.get(name) : undefined
    if (attribute !== undefined) values.push(attribute)
  }
  return values.map(value => unescapeText(value).trim()).filter(value => value !== '')
}

function authorsOf(creators: string[]): Author[] | undefined {
  return uniqueNames(creators.flatMap(splitConjunctions))?.map(name => ({
    name,
    role: null,
    sortName: null,
  }))
}

type First = (prefix: string, name: string) => string | undefined

/** calibre writes the name as rdf:value next to the index; publishers use PRISM. */
function seriesOf(descriptions: XmlElement[], first: First) {
  for (const description of descriptions) {
    const series = childrenOf(description, 'series').find(element => element.prefix === 'calibre')
    const inner = childOf(series, 'description') ?? series
    const name = singleLine(textOf(childOf(inner, 'value')))
    if (name !== undefined)
      return { series: name, number: numberOf(textOf(childOf(inner, 'series_index'))) }
  }
  const series = singleLine(first('prism', 'publicationname'))
  if (series === undefined) return {}
  const volume = parseDecimal(first('prism', 'volume') ?? '')
  return {
    series,
    number: singleLine(first('prism', 'number') ?? first('prism', 'issueidentifier')),
    volume: Number.isInteger(volume) ? volume : undefined,
  }
}

/** calibre writes `3.00` for `3`. */
function numberOf(text: string): string | undefined {
  const value = parseDecimal(text)
  return Number.isNaN(value) ? singleLine(text) : String(value)
}

function isbnOf(descriptions: XmlElement[], find: (p: string, n: string) => string[]) {
  const stated = ['isbn', 'eisbn'].flatMap(name => find('prism', name))
  const identified = find('dc', 'identifier')
  const listed = descriptions.flatMap(description =>
    childrenOf(description, 'identifier').flatMap(property =>
      [...descendantsOf(property)].filter(item => item.name === 'value').map(textOf),
    ),
  )
  const plain = find('pdfx', 'isbn')
  const texts = [...stated, ...identified, ...listed, ...plain].slice(0, 100)
  const isbns = texts.map(text => isbn13(text) ?? findIsbn([text]))
  return isbns.find(isbn => isbn !== undefined)
}
