// Media types of OPDS 2.0, Readium manifests, book files and EPUB resources.
import type { Format } from '../../media/format/contract.ts'
import { type FormatName, formatNamed } from '../../media/format/formats.ts'
import type { OpdsVersion } from './catalog-path.ts'

export const feedType = 'application/opds+json'
export const publicationType = 'application/opds-publication+json'
/** Authentication for OPDS 1.0. */
export const authenticationType = 'application/opds-authentication+json'
/** Readium manifest with one image per page. */
export const divinaType = 'application/divina+json'
/** Readium manifest of any other book. */
export const webpubType = 'application/webpub+json'
/** Reading progress in the format of Cantook and Komga. */
export const progressionType = 'application/vnd.readium.progression+json'
export const positionsType = 'application/vnd.readium.position-list+json'

/** The media type of a book's file in a catalog of that version. */
export function fileType(format: FormatName | null, version: OpdsVersion): string {
  if (format === null) return 'application/octet-stream'
  const { mediaType, mediaType1 }: Format['opds'] = formatNamed(format).opds
  return version === 1 ? (mediaType1 ?? mediaType) : mediaType
}

/** Types of EPUB resources that reading apps display and that cannot run code. Scripts are served as plain text. */
const allowed = [
  'application/xhtml+xml',
  'text/html',
  'text/css',
  'text/plain',
  'application/xml',
  'application/x-dtbncx+xml',
  'application/smil+xml',
  'application/pls+xml',
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/jxl',
  'image/bmp',
  'image/tiff',
  'image/svg+xml',
  'font/ttf',
  'font/otf',
  'font/woff',
  'font/woff2',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'audio/aac',
  'audio/wav',
  'audio/webm',
  'video/mp4',
  'video/webm',
  'video/ogg',
] as const
type AllowedType = (typeof allowed)[number]

const binary = 'application/octet-stream'

/** All possible results of `servedType`. */
export const servedTypes: readonly string[] = [...allowed, binary]

const aliases: Record<string, AllowedType> = {
  'application/xhtml': 'application/xhtml+xml',
  'application/html': 'text/html',
  'text/x-oeb1-document': 'text/html',
  'text/x-oeb1-css': 'text/css',
  'text/xml': 'application/xml',
  'application/x-dtbook+xml': 'application/xml',
  'application/smil': 'application/smil+xml',
  'text/javascript': 'text/plain',
  'application/javascript': 'text/plain',
  'application/ecmascript': 'text/plain',
  'application/x-javascript': 'text/plain',
  'application/json': 'text/plain',
  'image/jpg': 'image/jpeg',
  'image/svg': 'image/svg+xml',
  'application/font-sfnt': 'font/otf',
  'application/vnd.ms-opentype': 'font/otf',
  'application/x-font-opentype': 'font/otf',
  'application/x-font-otf': 'font/otf',
  'font/opentype': 'font/otf',
  'application/x-font-ttf': 'font/ttf',
  'application/x-font-truetype': 'font/ttf',
  'application/x-truetype-font': 'font/ttf',
  'font/truetype': 'font/ttf',
  'application/font-woff': 'font/woff',
  'application/x-font-woff': 'font/woff',
  'application/font-woff2': 'font/woff2',
  'audio/mp3': 'audio/mpeg',
  'audio/x-m4a': 'audio/mp4',
  'audio/opus': 'audio/ogg',
  'audio/x-wav': 'audio/wav',
}

const byExtension: Record<string, AllowedType> = {
  xhtml: 'application/xhtml+xml',
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  js: 'text/plain',
  txt: 'text/plain',
  xml: 'application/xml',
  ncx: 'application/x-dtbncx+xml',
  smil: 'application/smil+xml',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  otf: 'font/otf',
  woff: 'font/woff',
  woff2: 'font/woff2',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
}

const allowedTypes = new Set<string>(allowed)

/** The Content-Type of a resource: its manifest type if that is allowed; if it has none, by extension. */
export function servedType({ mediaType, name }: { mediaType: string; name: string }): string {
  const declared = mediaType.split(';')[0]!.trim().toLowerCase()
  if (allowedTypes.has(declared)) return declared
  if (Object.hasOwn(aliases, declared)) return aliases[declared]!
  const extension = /\.(\w{1,5})$/.exec(name)?.[1]?.toLowerCase() ?? ''
  return declared === '' && Object.hasOwn(byExtension, extension) ? byExtension[extension]! : binary
}

/** Audio and video, which players fetch in ranges. */
export const isStreamedMedia = (mediaType: string): boolean => /^(?:audio|video)\//.test(mediaType)
