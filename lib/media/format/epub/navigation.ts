// EPUB navigation: table of contents, landmarks and page list, from EPUB 3 nav, NCX and guide.
//
//   EPUB 3 = { nav @epub:type=( "toc" | "landmarks" | "page-list" ) ol }     in the item called `nav`
//   ol     = { li ( a @href @epub:type | span ) [ol] }
//   EPUB 2 = ncx ( navMap { navPoint } [pageList { pageTarget }] ), and the guide of the package
//   navPoint, pageTarget = navLabel( text ) content @src { navPoint }
import type { Entry } from '../../archive/container.ts'
import { singleLine } from '../../metadata/text.ts'
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

/** A link to a position in a resource. */
export type EpubLink = {
  title: string
  /** Index of the resource. */
  resource: number
  /** Decoded, without `#`; empty for the start of the resource. */
  fragment: string
  /** Value of `epub:type` or the guide type, e.g. `bodymatter`; may be empty. */
  kind: string
  children: EpubLink[]
}

export type Navigation = { toc: EpubLink[]; landmarks: EpubLink[]; pageList: EpubLink[] }

/** `resourceIndexes` contains the resources that may be link targets. */
export type NavigationContext = {
  archive: EpubArchive
  book: EpubPackage
  resourceIndexes: Map<Entry, number>
}

const maxLinks = 20_000
const maxDepth = 32
const ncxType = 'application/x-dtbncx+xml'

/** Throws only Unreadable `io`. Falls back to the reading order if there is no table of contents. */
export async function readNavigation(
  context: NavigationContext,
  readingOrder: readonly number[],
): Promise<Navigation> {
  const { resources } = context.book
  const navigation = resources.find(({ properties }) => properties.includes('nav'))
  const nav = navigation ? await readNav(context, navigation.entry) : emptyNavigation
  const ncx = resources.find(({ mediaType }) => mediaType === ncxType)
  const isComplete = nav.toc.length > 0 && nav.pageList.length > 0
  const epub2 = ncx && !isComplete ? await readNcx(context, ncx.entry) : emptyNavigation
  const first = (...lists: EpubLink[][]) => lists.find(list => list.length > 0) ?? []
  return {
    toc: first(nav.toc, epub2.toc, readingOrderLinks(context, readingOrder)),
    landmarks: first(nav.landmarks, guideLinks(context)),
    pageList: first(nav.pageList, epub2.pageList),
  }
}

const emptyNavigation: Navigation = { toc: [], landmarks: [], pageList: [] }

async function readNav(context: NavigationContext, entry: Entry): Promise<Navigation> {
  const root = await parseDocument(context, entry)
  const links = createLinkFactory(context, entry)
  const lists = root === null ? [] : [...descendantsOf(root)].filter(({ name }) => name === 'nav')
  const listOf = (kind: string) => {
    const nav = lists.find(list => typesOf(list).includes(kind))
    const items = nav && firstDescendant(nav, 'ol')
    return items ? navItems(items, links, 0) : []
  }
  return { toc: listOf('toc'), landmarks: listOf('landmarks'), pageList: listOf('page-list') }
}

function navItems(items: XmlElement, links: LinkFactory, depth: number): EpubLink[] {
  return childrenOf(items, 'li').flatMap(item => {
    const anchor = firstDescendant(item, 'a', 'ol')
    const label = anchor ?? childrenOf(item).find(({ name }) => name !== 'ol')
    const inner = depth < maxDepth ? firstDescendant(item, 'ol') : undefined
    return links.create({
      title: label && titleOf(label),
      href: anchor?.attributes.get('href'),
      kind: anchor && typesOf(anchor)[0],
      children: () => (inner ? navItems(inner, links, depth + 1) : []),
    })
  })
}

async function readNcx(context: NavigationContext, entry: Entry): Promise<Navigation> {
  const root = await parseDocument(context, entry)
  if (root === null) return emptyNavigation
  const links = createLinkFactory(context, entry)
  const points = (parent: XmlElement | undefined, name: string, depth: number): EpubLink[] =>
    childrenOf(parent, name).flatMap(point =>
      links.create({
        title: textOf(childOf(childOf(point, 'navlabel'), 'text')),
        href: childOf(point, 'content')?.attributes.get('src'),
        kind: undefined,
        children: () => (depth < maxDepth ? points(point, name, depth + 1) : []),
      }),
    )
  return {
    ...emptyNavigation,
    toc: points(firstDescendant(root, 'navmap'), 'navpoint', 0),
    pageList: points(firstDescendant(root, 'pagelist'), 'pagetarget', 0),
  }
}

function guideLinks(context: NavigationContext): EpubLink[] {
  const { book } = context
  const links = createLinkFactory(context, { name: book.path } as Entry)
  return book.guide.flatMap(({ type, href }) =>
    links.create({ title: type, href, kind: type, children: () => [] }),
  )
}

/** Links to the reading order with file names as titles, when there is no other navigation. */
function readingOrderLinks(
  { resourceIndexes }: NavigationContext,
  readingOrder: readonly number[],
): EpubLink[] {
  const names = [...resourceIndexes.keys()].map(({ name }) => name)
  return readingOrder.slice(0, maxLinks).map(resource => {
    const file = names[resource]!.split('/').at(-1)!
    const title =
      singleLine(file.replace(/\.\w{1,8}$/, '')) ?? singleLine(file) ?? String(resource + 1)
    return { title, resource, fragment: '', kind: '', children: [] }
  })
}

type LinkSource = {
  title: string | undefined
  href: string | undefined
  kind: string | undefined
  children: () => EpubLink[]
}
type LinkFactory = ReturnType<typeof createLinkFactory>

function createLinkFactory(
  { archive, resourceIndexes }: NavigationContext,
  from: Pick<Entry, 'name'>,
) {
  let remaining = maxLinks
  const targetOf = (href: string): { resource: number; fragment: string } | null => {
    // A bare fragment refers to the navigation document itself.
    const entry =
      archive.resolve(from.name, href) ?? (href.startsWith('#') ? archive.find(from.name) : null)
    const resource = entry === null ? undefined : resourceIndexes.get(entry)
    const hash = href.indexOf('#')
    const fragment = hash < 0 ? '' : decodePercent(href.slice(hash + 1).trim()).slice(0, 500)
    return resource === undefined ? null : { resource, fragment: fragment.toWellFormed() }
  }
  return {
    /** A link without a valid target is replaced by its children. A heading links to its first child. */
    create({ title, href, kind, children }: LinkSource): EpubLink[] {
      if (remaining <= 0) return []
      remaining -= 1
      const inner = children()
      const text = singleLine(title)
      const ownTarget = href === undefined ? null : targetOf(href.trim())
      const isHeading = text !== undefined && href === undefined
      const target = ownTarget ?? (isHeading ? inner[0] : null)
      if (!target) return inner
      const { resource, fragment } = target
      return [
        {
          title: text ?? untitled,
          resource,
          fragment,
          kind: singleLine(kind) ?? '',
          children: inner,
        },
      ]
    },
  }
}

const untitled = '–'

const parseDocument = async ({ archive }: NavigationContext, entry: Entry) => {
  const bytes = await archive.readDocument(entry)
  return bytes === null ? null : parseXml(bytes).root
}

const typesOf = ({ attributes }: XmlElement): string[] =>
  (attributes.get('type') ?? attributes.get('role')?.replace(/^doc-/, '') ?? '')
    .trim()
    .toLowerCase()
    .split(/\s+/)

/** The text of a label, or the alternative text of its image. */
function titleOf(label: XmlElement): string | undefined {
  const text = singleLine(textOf(label)) ?? singleLine(label.attributes.get('title'))
  if (text !== undefined) return text
  const image = firstDescendant(label, 'img')
  return singleLine(image?.attributes.get('alt')) ?? singleLine(image?.attributes.get('title'))
}

/** The first descendant with that name, not searching inside elements named `border`. */
function firstDescendant(element: XmlElement, name: string, border = ''): XmlElement | undefined {
  for (const child of childrenOf(element)) {
    if (child.name === name) return child
    const inner = child.name === border ? undefined : firstDescendant(child, name, border)
    if (inner) return inner
  }
  return undefined
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
