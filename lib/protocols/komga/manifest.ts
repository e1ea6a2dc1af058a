// Readium manifests as Komga writes them: people as plain names, and lists present even if empty.
import type { EpubContents } from '../../media/format/epub/contents.ts'
import type { EpubLink } from '../../media/format/epub/navigation.ts'
import { canonicalLanguage } from '../../media/metadata/language.ts'
import type { StoredPage } from '../../page/page-list.ts'
import { type Links, resourceLinks } from '../publication/links.ts'
import { divinaType, progressionType, servedType, webpubType } from '../publication/media-types.ts'
import {
  type Publication,
  propertyByRole as readiumProperties,
} from '../publication/publication.ts'
import { dateOf, mediaTypeOf, roleName, utcSeconds } from './values.ts'

export type ManifestProfile = 'divina' | 'epub' | 'pdf'

type Link = {
  href: string
  type?: string
  rel?: string
  title?: string
  width?: number
  height?: number
  properties: object
  alternate?: Link[]
  children?: Link[]
}

type Content = {
  readingOrder: Link[]
  resources?: Link[]
  toc?: Link[]
  landmarks?: Link[]
  pageList?: Link[]
  isFixedLayout?: boolean
}

/** One image per page; types that not every app displays have a JPEG alternative. */
export function divinaManifest(
  book: Publication,
  pages: readonly StoredPage[],
  links: Links,
): object {
  const readingOrder = pages.map(({ mediaType, width, height }, i): Link => {
    const href = links.to(`/books/${book.id}/pages/${i + 1}`)
    const converted = { href: `${href}?convert=jpeg`, type: 'image/jpeg', properties: {} }
    return {
      ...{ href, type: mediaType, properties: {} },
      ...(width === null ? {} : { width }),
      ...(height === null ? {} : { height }),
      ...(baseTypes.has(mediaType) ? {} : { alternate: [converted] }),
    }
  })
  return manifest(book, 'divina', links, { readingOrder })
}

const baseTypes = new Set(['image/jpeg', 'image/png', 'image/gif'])

/** Pages as images of a PDF, and its file as a resource. */
export function pdfManifest(book: Publication, links: Links): object {
  const readingOrder = Array.from({ length: book.pageCount }, (_, i) => ({
    href: links.to(`/books/${book.id}/pages/${i + 1}/raw`),
    type: 'image/jpeg',
    properties: {},
  }))
  return manifest(book, 'pdf', links, { readingOrder })
}

export function epubManifest(book: Publication, contents: EpubContents, links: Links): object {
  const { resources, readingOrder, isFixedLayout } = contents
  const hrefOf = resourceLinks(book.id, links)
  const ordered = new Set(readingOrder)
  const link = (index: number): Link => {
    const resource = resources[index]!
    return { href: hrefOf(resource.name), type: servedType(resource), properties: {} }
  }
  const navigation = (items: readonly EpubLink[]): Link[] =>
    items.map(({ title, resource, fragment, children }) => {
      const href = hrefOf(resources[resource]!.name)
      return {
        title,
        href: fragment === '' ? href : `${href}#${encodeURIComponent(fragment)}`,
        properties: {},
        ...(children.length > 0 ? { children: navigation(children) } : {}),
      }
    })
  return manifest(book, 'epub', links, {
    readingOrder: readingOrder.map(link),
    resources: resources.flatMap((_, index) => (ordered.has(index) ? [] : [link(index)])),
    toc: navigation(contents.toc),
    landmarks: navigation(contents.landmarks),
    pageList: navigation(contents.pageList),
    isFixedLayout,
  })
}

function manifest(
  book: Publication,
  profile: ManifestProfile,
  links: Links,
  { readingOrder, resources = [], toc = [], landmarks = [], pageList = [], ...content }: Content,
): object {
  const context = 'https://readium.org/webpub-manifest/context.jsonld'
  const path = `/books/${book.id}`
  const type = profile === 'divina' ? divinaType : webpubType
  const isEpub = profile === 'epub'
  const cover = { href: links.to(`${path}/thumbnail`), type: 'image/jpeg', properties: {} }
  return {
    ...{ context, '@context': context },
    metadata: {
      ...metadataOf(book, links),
      conformsTo: `https://readium.org/webpub-manifest/profiles/${profile}`,
      rendition: isEpub ? { layout: content.isFixedLayout ? 'fixed' : 'reflowable' } : {},
    },
    links: [
      { rel: 'self', href: links.to(`${path}/manifest`), type, properties: {} },
      {
        ...{ rel: 'http://opds-spec.org/acquisition', href: links.to(`${path}/file`) },
        ...{ type: book.format ? mediaTypeOf[book.format] : '', properties: {} },
      },
      ...(isEpub
        ? [
            {
              ...{ rel: 'http://www.cantook.com/api/progression', properties: {} },
              ...{ href: links.to(`${path}/progression`), type: progressionType },
            },
          ]
        : []),
    ],
    images: [cover],
    ...{ readingOrder, resources, toc, landmarks, pageList },
  }
}

// Komga has none for narrators.
const { narrator: _, ...propertyByRole } = readiumProperties
const properties = [...new Set(Object.values(propertyByRole)), 'contributor']

function metadataOf(book: Publication, links: Links): Record<string, unknown> {
  const people: Record<string, string[]> = Object.fromEntries(properties.map(name => [name, []]))
  for (const { name, role } of book.authors)
    people[propertyByRole[roleName(role)] ?? 'contributor']!.push(name)
  const [year = null, month = null, day = null] = book.releaseDate?.split('-').map(Number) ?? []
  const optional = {
    identifier: book.isbn ? `urn:isbn:${book.isbn}` : `urn:uuid:${book.id}`,
    type: 'http://schema.org/Book',
    subtitle: book.subtitle,
    modified: utcSeconds(book.updatedAt),
    published: dateOf(year, month, day),
    language: book.language && canonicalLanguage(book.language),
    description: book.summary,
    numberOfPages: book.pageCount > 0 ? book.pageCount : null,
    readingProgression: progressions[book.readingDirection ?? 'ltr'],
  }
  const present = Object.entries(optional).filter(([, value]) => value !== null && value !== '')
  return {
    title: book.title,
    ...Object.fromEntries(present),
    ...people,
    publisher: book.publisher ? [book.publisher] : [],
    subject: book.tags,
    belongsTo: {
      series: [
        {
          name: book.series.title,
          ...(book.seriesPosition === null ? {} : { position: book.seriesPosition }),
          links: [
            {
              href: links.to(`/series/${book.series.id}`),
              ...{ type: 'application/json', properties: {} },
            },
          ],
        },
      ],
      collection: [],
    },
  }
}

const progressions = { ltr: 'ltr', rtl: 'rtl', ttb: 'ttb', webtoon: 'ttb' } as const
