// Small library with every format of books and images, for the probe.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tarEnd, tarEntry, zip } from '../../test/kit/files/archives.ts'
import { epubBytes, item } from '../../test/kit/files/epub.ts'
import { exampleImage, exampleSize, type ImageFormat } from '../../test/kit/files/images.ts'
import { scannedPdf } from '../../test/kit/files/pdf.ts'
import { storedRar, storedSevenZip } from '../../test/kit/files/stored-archives.ts'

const formats: ImageFormat[] = ['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff', 'bmp', 'jxl']

/** Writes the library to a new folder; the probe expects these books (probe/expected.ts). */
export async function writeLibrary(folder: string): Promise<void> {
  const images = await Promise.all(
    formats.map(async (format, i) => ({
      name: `${i + 1}.${format === 'jpeg' ? 'jpg' : format}`,
      bytes: await exampleImage(format),
    })),
  )
  const jpeg = images[0]!.bytes
  const pages = [1, 2, 3, 4].map(page => ({ name: `${page}.jpg`, bytes: jpeg }))
  const files: Record<string, Buffer> = {
    'Akira/Akira 01.cbr': storedRar(pages),
    'Akira/Akira 02.cb7': storedSevenZip(pages),
    'Akira/Akira 03.cbt': Buffer.concat([
      ...pages.map(({ name, bytes }) => tarEntry(name, bytes)),
      tarEnd,
    ]),
    'Formats/Formats 01.cbz': zip(images),
    'Texts/Report.pdf': scannedPdf({ jpeg, ...exampleSize }),
    'Texts/Walden.epub': epubBytes({
      metadata: '<title>Walden</title><creator>Henry David Thoreau</creator>',
      manifest: item('a', 'a.xhtml', 'application/xhtml+xml'),
      spine: '<itemref idref="a"/>',
      files: {
        'OPS/a.xhtml':
          '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Economy</p></body></html>',
      },
    }),
  }
  for (const number of [1, 2, 3])
    files[`Saga/Saga 0${number}.cbz`] = zip([
      {
        name: 'ComicInfo.xml',
        bytes: Buffer.from(
          `<ComicInfo><Series>Saga</Series><Number>${number}</Number><Title>Saga, part ${number}</Title></ComicInfo>`,
        ),
      },
      ...pages,
    ])
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
}
