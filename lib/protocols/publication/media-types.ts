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

/**
 * Types of EPUB resources that reading apps display and that cannot run code, each with other names for it and the
 * extensions of its files. Scripts are served as plain text.
 */
const allowed: Readonly<Record<string, { aliases?: string; extensions?: string }>> = {
  'application/xhtml+xml': { aliases: 'application/xhtml', extensions: 'xhtml' },
  'text/html': { aliases: 'application/html text/x-oeb1-document', extensions: 'html htm' },
  'text/css': { aliases: 'text/x-oeb1-css', extensions: 'css' },
  'text/plain': {
    aliases:
      'text/javascript application/javascript application/ecmascript application/x-javascript application/json',
    extensions: 'js txt',
  },
  'application/xml': { aliases: 'text/xml application/x-dtbook+xml', extensions: 'xml' },
  'application/x-dtbncx+xml': { extensions: 'ncx' },
  'application/smil+xml': { aliases: 'application/smil', extensions: 'smil' },
  'application/pls+xml': {},
  'image/jpeg': { aliases: 'image/jpg', extensions: 'jpg jpeg' },
  'image/png': { extensions: 'png' },
  'image/gif': { extensions: 'gif' },
  'image/webp': { extensions: 'webp' },
  ...{ 'image/avif': {}, 'image/jxl': {}, 'image/bmp': {}, 'image/tiff': {} },
  'image/svg+xml': { aliases: 'image/svg', extensions: 'svg' },
  'font/ttf': {
    aliases:
      'application/x-font-ttf application/x-font-truetype application/x-truetype-font font/truetype',
    extensions: 'ttf',
  },
  'font/otf': {
    aliases:
      'application/font-sfnt application/vnd.ms-opentype application/x-font-opentype application/x-font-otf font/opentype',
    extensions: 'otf',
  },
  'font/woff': { aliases: 'application/font-woff application/x-font-woff', extensions: 'woff' },
  'font/woff2': { aliases: 'application/font-woff2', extensions: 'woff2' },
  'audio/mpeg': { aliases: 'audio/mp3', extensions: 'mp3' },
  'audio/mp4': { aliases: 'audio/x-m4a', extensions: 'm4a' },
  'audio/ogg': { aliases: 'audio/opus' },
  ...{ 'audio/aac': {}, 'audio/wav': { aliases: 'audio/x-wav' }, 'audio/webm': {} },
  'video/mp4': { extensions: 'mp4' },
  ...{ 'video/webm': {}, 'video/ogg': {} },
}
const binary = 'application/octet-stream'

/** All possible results of `servedType`. */
export const servedTypes: readonly string[] = [...Object.keys(allowed), binary]

const typesBy = (names: 'aliases' | 'extensions') =>
  new Map(
    Object.entries(allowed).flatMap(([type, of]) =>
      (of[names]?.split(' ') ?? []).map(name => [name, type] as const),
    ),
  )
const [byAlias, byExtension] = [typesBy('aliases'), typesBy('extensions')]

/** The Content-Type of a resource: its manifest type if that is allowed; if it has none, by extension. */
export function servedType({ mediaType, name }: { mediaType: string; name: string }): string {
  const declared = mediaType.split(';')[0]!.trim().toLowerCase()
  if (Object.hasOwn(allowed, declared)) return declared
  if (declared !== '') return byAlias.get(declared) ?? binary
  return byExtension.get(/\.(\w{1,5})$/.exec(name)?.[1]?.toLowerCase() ?? '') ?? binary
}

/** Audio and video, which players fetch in ranges. */
export const isStreamedMedia = (mediaType: string): boolean => /^(?:audio|video)\//.test(mediaType)
