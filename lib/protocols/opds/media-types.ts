// Media types of OPDS 2.0, Readium manifests and book files.
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
