// PDF format: properties and lazily loaded reader.
import type { Format } from '../contract.ts'

export const pdf: Format<'pdf'> = {
  name: 'pdf',
  extensions: ['pdf'],
  mediaType: 'application/pdf',
  opds: { mediaType: 'application/pdf', profile: 'pdf' },
  isReflowable: false,
  isRendered: true,
  load: async () => (await import('./pdf.ts')).pdfReader,
}
