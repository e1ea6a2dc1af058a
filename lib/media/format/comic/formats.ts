// Comic formats: CBZ, CBR, CB7 and CBT.
import type { Format, FormatReader } from '../contract.ts'

type ComicFormat<Name extends string> = {
  name: Name
  mediaType: string
  opdsMediaType: string
  opdsMediaType1?: string
  load(): Promise<FormatReader>
}

function comicFormat<const Name extends string>(format: ComicFormat<Name>): Format<Name> {
  const { name, mediaType, opdsMediaType, opdsMediaType1, load } = format
  const opds = { mediaType: opdsMediaType, mediaType1: opdsMediaType1, profile: 'divina' } as const
  const properties = { extensions: [name], isReflowable: false, isRendered: false }
  return { name, mediaType, opds, ...properties, load }
}

export const cbz = comicFormat({
  name: 'cbz',
  mediaType: 'application/zip',
  opdsMediaType: 'application/vnd.comicbook+zip',
  // OPDS 1.2 apps recognize comics in ZIP by this type and the file name.
  opdsMediaType1: 'application/zip',
  async load() {
    const { comicReader } = await import('./comic.ts')
    const { isZip, zipArchive } = await import('../../archive/zip/zip.ts')
    return comicReader(isZip, zipArchive)
  },
})

export const cbr = comicFormat({
  name: 'cbr',
  mediaType: 'application/x-rar-compressed',
  opdsMediaType: 'application/vnd.comicbook-rar',
  async load() {
    const { comicReader } = await import('./comic.ts')
    const { isRar, rarArchive } = await import('../../archive/rar/rar.ts')
    return comicReader(isRar, rarArchive)
  },
})

export const cb7 = comicFormat({
  name: 'cb7',
  mediaType: 'application/x-7z-compressed',
  opdsMediaType: 'application/x-cb7',
  async load() {
    const { comicReader } = await import('./comic.ts')
    const { isSevenZip, sevenZipArchive } = await import('../../archive/sevenzip/sevenzip.ts')
    return comicReader(isSevenZip, sevenZipArchive)
  },
})

export const cbt = comicFormat({
  name: 'cbt',
  mediaType: 'application/x-tar',
  opdsMediaType: 'application/vnd.comicbook+tar',
  async load() {
    const { comicReader } = await import('./comic.ts')
    const { isTarHeader, tarArchive } = await import('../../archive/tar.ts')
    return comicReader(isTarHeader, tarArchive)
  },
})
