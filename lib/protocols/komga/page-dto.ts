// Pages of a book in the Komga-compatible API.

import { component, nullable, type Static, Type } from '../../base/schema.ts'
import type { StoredPage } from '../../page/page-list.ts'
import { sizeText } from './values.ts'

export const PageDto = component('PageDto', {
  number: Type.Integer({ description: 'Page number, starting at 1.' }),
  fileName: Type.String(),
  mediaType: Type.String(),
  width: nullable(Type.Integer()),
  height: nullable(Type.Integer()),
  sizeBytes: nullable(Type.Integer()),
  size: Type.String(),
})
export type PageDto = Static<typeof PageDto>

export const pageDtos = (
  pages: readonly Pick<StoredPage, 'name' | 'mediaType' | 'width' | 'height' | 'bytes'>[],
): PageDto[] =>
  pages.map(({ name, mediaType, width, height, bytes }, i) => ({
    ...{ number: i + 1, fileName: name, mediaType, width, height },
    // Rendered pages have no size in the file.
    ...(bytes > 0 ? { sizeBytes: bytes, size: sizeText(bytes) } : { sizeBytes: null, size: '' }),
  }))
