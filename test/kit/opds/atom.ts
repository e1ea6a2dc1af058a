// Strict reader of Atom and OpenSearch documents: namespaces matter, prefixes do not.
import { SaxesParser, type SaxesTagNS } from 'saxes'
import type { Document, Item, Link } from './document.ts'

const atom = 'http://www.w3.org/2005/Atom'
const opds = 'http://opds-spec.org/2010/catalog'
const pse = 'http://vaemendis.net/opds-pse/ns'
const search = 'http://a9.com/-/spec/opensearch/1.1/'
const thread = 'http://purl.org/syndication/thread/1.0'

type Element = { uri: string; name: string; tag: SaxesTagNS; text: string; children: Element[] }

/** Throws if the text is not well-formed XML. */
export function readXml(text: string): Document {
  const root = elements(text)
  if (root.uri === search) return description(root)
  if (root.uri !== atom) throw new Error(`unknown root {${root.uri}}${root.name}`)
  const items = all(root, 'entry').map(item)
  return {
    version: 1,
    shape: root.name === 'entry' ? 'entry' : 'feed',
    id: textOf(root, 'id'),
    title: textOf(root, 'title'),
    updated: textOf(root, 'updated'),
    links: all(root, 'link').map(link),
    items,
    paging: pagingOf(root),
    json: null,
  }
}

function item(entry: Element): Item {
  const links = all(entry, 'link').map(link)
  return {
    id: textOf(entry, 'id'),
    title: textOf(entry, 'title'),
    updated: textOf(entry, 'updated'),
    isBook: links.some(l => l.rels.some(r => r.startsWith('http://opds-spec.org/acquisition'))),
    links,
  }
}

function link({ tag }: Element): Link {
  const attribute = (name: string, uri = '') =>
    Object.values(tag.attributes).find(a => a.local === name && a.uri === uri)?.value
  const number = (name: string, uri: string) =>
    attribute(name, uri) === undefined ? null : Number(attribute(name, uri))
  const count = number('count', pse)
  return {
    rels: [attribute('rel') ?? 'alternate'],
    href: attribute('href') ?? '',
    type: attribute('type') ?? '',
    title: attribute('title') ?? '',
    isTemplate: count !== null,
    count: number('count', thread),
    group: attribute('facetGroup', opds) ?? null,
    isActive: attribute('activeFacet', opds) === 'true',
    length: number('length', ''),
    pages: count === null ? null : { count, lastRead: number('lastRead', pse) },
  }
}

function pagingOf(root: Element) {
  const number = (name: string) => Number(all(root, name, search)[0]?.text ?? Number.NaN)
  const [total, size, start] = [
    number('totalResults'),
    number('itemsPerPage'),
    number('startIndex'),
  ] as const
  if (Number.isNaN(total)) return null
  return { total, size, page: (start - 1) / size + 1 }
}

function description(root: Element): Document {
  const urls = all(root, 'Url', search)
  return {
    version: 1,
    shape: 'search',
    id: '',
    title: all(root, 'ShortName', search)[0]?.text ?? '',
    updated: null,
    links: urls.map(url => ({
      ...link(url),
      href: url.tag.attributes.template?.value ?? '',
      rels: ['search'],
      isTemplate: true,
    })),
    items: [],
    paging: null,
    json: null,
  }
}

const all = (parent: Element, name: string, uri = atom) =>
  parent.children.filter(child => child.name === name && child.uri === uri)
const textOf = (parent: Element, name: string) => all(parent, name)[0]?.text ?? ''

function elements(text: string): Element {
  const parser = new SaxesParser({ xmlns: true })
  const top: Element = { uri: '', name: '', tag: null as never, text: '', children: [] }
  const open = [top]
  const reject = (construct: string) => () => {
    throw new Error(`${construct} in a feed`)
  }
  parser.on('error', error => {
    throw error
  })
  // Simple parsers of reading apps do not support these.
  parser.on('doctype', reject('a document type'))
  parser.on('comment', reject('a comment'))
  parser.on('cdata', reject('CDATA'))
  parser.on('processinginstruction', reject('a processing instruction'))
  parser.on('opentag', tag => {
    const element = { uri: tag.uri, name: tag.local, tag, text: '', children: [] }
    open.at(-1)!.children.push(element)
    open.push(element)
  })
  parser.on('text', part => {
    open.at(-1)!.text += part
  })
  parser.on('closetag', () => {
    open.pop()
  })
  parser.write(text).close()
  return top.children[0]!
}
