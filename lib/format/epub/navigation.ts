// The lists of an EPUB that lead into it.
//
//   EPUB 3 = { nav @epub:type=( "toc" | "landmarks" | "page-list" ) ol }     in the item called `nav`
//   ol     = { li ( a @href @epub:type | span ) [ol] }
//   EPUB 2 = ncx ( navMap { navPoint } [pageList { pageTarget }] ), and the guide of the package
//   navPoint, pageTarget = navLabel( text ) content @src { navPoint }

import type { Entry } from '../../archive/container.ts'
import { line } from '../../metadata/text.ts'
import {
  childOf,
  childrenOf,
  descendantsOf,
  parseXml,
  textOf,
  type XmlElement,
} from '../../metadata/xml.ts'
import type { EpubArchive } from './archive.ts'
import type { EpubPackage } from './package.ts'

/** A place in a resource. */
export type EpubLink = {
  title: string
  /** Number of the resource. */
  resource: number
  /** Decoded, without `#`; empty for the beginning. */
  fragment: string
  /** What it is by its own word: `bodymatter`; empty if it does not say. */
  kind: string
  children: EpubLink[]
}

export type Navigation = { toc: EpubLink[]; landmarks: EpubLink[]; pageList: EpubLink[] }

/** `places` are the numbers of the resources that may be led to. */
export type Leading = { archive: EpubArchive; book: EpubPackage; places: Map<Entry, number> }

const mostLinks = 20_000
const deepest = 32
const ncxType = 'application/x-dtbncx+xml'

/** Never throws but Unreadable `io`. Without a table of contents the reading order is one. */
export async function readNavigation(
  leading: Leading,
  readingOrder: readonly number[],
): Promise<Navigation> {
  const { resources } = leading.book
  const navigation = resources.find(({ properties }) => properties.includes('nav'))
  const nav = navigation ? await readNav(leading, navigation.entry) : nothing
  const ncx = resources.find(({ mediaType }) => mediaType === ncxType)
  const isWhole = nav.toc.length > 0 && nav.pageList.length > 0
  const older = ncx && !isWhole ? await readNcx(leading, ncx.entry) : nothing
  const first = (...lists: EpubLink[][]) => lists.find(list => list.length > 0) ?? []
  return {
    toc: first(nav.toc, older.toc, byName(leading, readingOrder)),
    landmarks: first(nav.landmarks, guideOf(leading)),
    pageList: first(nav.pageList, older.pageList),
  }
}

const nothing: Navigation = { toc: [], landmarks: [], pageList: [] }

async function readNav(leading: Leading, entry: Entry): Promise<Navigation> {
  const root = await documentOf(leading, entry)
  const maker = makerOf(leading, entry)
  const lists = root === null ? [] : [...descendantsOf(root)].filter(({ name }) => name === 'nav')
  const listOf = (kind: string) => {
    const nav = lists.find(list => kindsOf(list).includes(kind))
    const items = nav && firstBelow(nav, 'ol')
    return items ? navItems(items, maker, 0) : []
  }
  return { toc: listOf('toc'), landmarks: listOf('landmarks'), pageList: listOf('page-list') }
}

function navItems(items: XmlElement, maker: Maker, depth: number): EpubLink[] {
  return childrenOf(items, 'li').flatMap(item => {
    const anchor = firstBelow(item, 'a', 'ol')
    const label = anchor ?? childrenOf(item).find(({ name }) => name !== 'ol')
    const inner = depth < deepest ? firstBelow(item, 'ol') : undefined
    return maker.link({
      title: label && titleOf(label),
      href: anchor?.attributes.get('href'),
      kind: anchor && kindsOf(anchor)[0],
      children: () => (inner ? navItems(inner, maker, depth + 1) : []),
    })
  })
}

async function readNcx(leading: Leading, entry: Entry): Promise<Navigation> {
  const root = await documentOf(leading, entry)
  if (root === null) return nothing
  const maker = makerOf(leading, entry)
  const points = (parent: XmlElement | undefined, name: string, depth: number): EpubLink[] =>
    childrenOf(parent, name).flatMap(point =>
      maker.link({
        title: textOf(childOf(childOf(point, 'navlabel'), 'text')),
        href: childOf(point, 'content')?.attributes.get('src'),
        kind: undefined,
        children: () => (depth < deepest ? points(point, name, depth + 1) : []),
      }),
    )
  return {
    ...nothing,
    toc: points(firstBelow(root, 'navmap'), 'navpoint', 0),
    pageList: points(firstBelow(root, 'pagelist'), 'pagetarget', 0),
  }
}

function guideOf(leading: Leading): EpubLink[] {
  const { book } = leading
  const maker = makerOf(leading, { name: book.path } as Entry)
  return book.guide.flatMap(({ type, href }) =>
    maker.link({ title: type, href, kind: type, children: () => [] }),
  )
}

/** Resources under their own names, when nothing else leads to them. */
function byName({ places }: Leading, readingOrder: readonly number[]): EpubLink[] {
  const names = [...places.keys()].map(({ name }) => name)
  return readingOrder.slice(0, mostLinks).map(resource => {
    const file = names[resource]!.split('/').at(-1)!
    const title = line(file.replace(/\.\w{1,8}$/, '')) ?? line(file) ?? String(resource + 1)
    return { title, resource, fragment: '', kind: '', children: [] }
  })
}

type Said = {
  title: string | undefined
  href: string | undefined
  kind: string | undefined
  children: () => EpubLink[]
}
type Maker = ReturnType<typeof makerOf>

function makerOf({ archive, places }: Leading, from: Pick<Entry, 'name'>) {
  let left = mostLinks
  const targetOf = (href: string): { resource: number; fragment: string } | null => {
    // A fragment alone leads into the list itself.
    const entry =
      archive.resolve(from.name, href) ?? (href.startsWith('#') ? archive.find(from.name) : null)
    const resource = entry === null ? undefined : places.get(entry)
    const mark = href.indexOf('#')
    const fragment = mark < 0 ? '' : decoded(href.slice(mark + 1).trim()).slice(0, 500)
    return resource === undefined ? null : { resource, fragment: fragment.toWellFormed() }
  }
  return {
    /** None when it leads nowhere; then what is below it takes its place. A heading leads to the first below it. */
    link({ title, href, kind, children }: Said): EpubLink[] {
      if (left <= 0) return []
      left -= 1
      const inner = children()
      const shown = line(title)
      const target = href === undefined ? null : targetOf(href.trim())
      const place = target ?? (shown === undefined || href !== undefined ? null : inner[0])
      if (!place) return inner
      const { resource, fragment } = place
      return [
        { title: shown ?? fallback, resource, fragment, kind: line(kind) ?? '', children: inner },
      ]
    },
  }
}

const fallback = '–'

const documentOf = async ({ archive }: Leading, entry: Entry) => {
  const bytes = await archive.document(entry)
  return bytes === null ? null : parseXml(bytes).root
}

const kindsOf = ({ attributes }: XmlElement): string[] =>
  (attributes.get('type') ?? attributes.get('role')?.replace(/^doc-/, '') ?? '')
    .trim()
    .toLowerCase()
    .split(/\s+/)

/** The text, or what stands for a picture. */
function titleOf(label: XmlElement): string | undefined {
  const said = line(textOf(label)) ?? line(label.attributes.get('title'))
  if (said !== undefined) return said
  const image = firstBelow(label, 'img')
  return line(image?.attributes.get('alt')) ?? line(image?.attributes.get('title'))
}

/** The first element of that name, not looking into elements called `border`. */
function firstBelow(element: XmlElement, name: string, border = ''): XmlElement | undefined {
  for (const child of childrenOf(element)) {
    if (child.name === name) return child
    const found = child.name === border ? undefined : firstBelow(child, name, border)
    if (found) return found
  }
  return undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
