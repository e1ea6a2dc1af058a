// EPUB format: properties and lazily loaded reader.
import type { Format } from '../contract.ts'

export const epub: Format<'epub'> = {
  name: 'epub',
  extensions: ['epub'],
  mediaType: 'application/epub+zip',
  opds: { mediaType: 'application/epub+zip', profile: 'epub' },
  isReflowable: true,
  isRendered: false,
  load: async () => (await import('./epub.ts')).epubReader,
}
