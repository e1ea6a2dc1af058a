// XMP, the metadata packet inside PDFs.
// packet:      … <rdf:RDF> description* </rdf:RDF> …
// description: <rdf:Description simple="…"> property* ; properties of Dublin Core, PRISM, calibre
// property:    text | <rdf:Alt | rdf:Seq | rdf:Bag> <rdf:li xml:lang="…">text</rdf:li>* | nested properties
import { partialDate } from './date.ts'
import { plainProse } from './html.ts'
import { isbn13 } from './isbn.ts'
import { canonicalLanguage } from './language.ts'
import type { Author, Metadata } from './metadata.ts'
import { decimal, line, names, said } from './text.ts'
import { childOf, childrenOf, descendantsOf, parseXml, textOf, type XmlElement } from './xml.ts'

/** Never throws. Dates are those of publication, not of the file. */
export function readXmp(bytes: Uint8Array): { metadata: Metadata; warnings: string[] } {
  const { root, warnings } = parseXml(bytes)
  if (!root) return { metadata: {}, warnings }
  const descriptions = [root, ...descendantsOf(root)].filter(
    element => element.name === 'description' && element.prefix.toLowerCase() === 'rdf',
  )
  const find = (prefix: string, name: string) => findProperty(descriptions, prefix, name)
  const first = (prefix: string, name: string) => find(prefix, name)[0]
  const metadata = said<Metadata>({
    title: line(first('dc', 'title')),
    authors: authorsOf(find('dc', 'creator')),
    summary: plainProse(first('dc', 'description')),
    publisher: line(first('dc', 'publisher')),
    tags: names(find('dc', 'subject')),
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

/** The values of a property over all descriptions, whatever its shape; the default language first. */
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
    // Attributes lose their prefixes on the way here; these names are not shared.
    const attribute = prefix === 'dc' ? description.attributes.get(name) : undefined
    if (attribute !== undefined) values.push(attribute)
  }
  return values.map(value => value.trim()).filter(value => value !== '')
}

function authorsOf(creators: string[]): Author[] | undefined {
  return names(creators.flatMap(creator => creator.split(/\s*;\s*|\s+&\s+/)))?.map(name => ({
    name,
    role: null,
    sortName: null,
  }))
}

type First = (prefix: string, name: string) => string | undefined

/** calibre writes the name into rdf:value beside its index; publishers use PRISM. */
function seriesOf(descriptions: XmlElement[], first: First) {
  for (const description of descriptions) {
    const series = childrenOf(description, 'series').find(found => found.prefix === 'calibre')
    const inner = childOf(series, 'description') ?? series
    const name = line(textOf(childOf(inner, 'value')))
    if (name !== undefined)
      return { series: name, number: numberOf(textOf(childOf(inner, 'series_index'))) }
  }
  const series = line(first('prism', 'publicationname'))
  if (series === undefined) return {}
  const volume = decimal(first('prism', 'volume') ?? '')
  return {
    series,
    number: line(first('prism', 'number') ?? first('prism', 'issueidentifier')),
    volume: Number.isInteger(volume) ? volume : undefined,
  }
}

/** calibre's `3.00` is `3`. */
function numberOf(text: string): string | undefined {
  const value = decimal(text)
  return Number.isNaN(value) ? line(text) : String(value)
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
  for (const text of [...stated, ...identified, ...listed, ...plain].slice(0, 100)) {
    const found = isbn13(text)
    if (found) return found
  }
  return undefined
}
