// Generator of small PDFs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { defaultLimits, type Limits } from '../../../lib/media/archive/limits.ts'
import { pdfReader } from '../../../lib/media/format/pdf/pdf.ts'
import { use } from '../use.ts'
import { openPath } from './archives.ts'

/** A PDF with these objects, numbered from 1; the first is the catalog. */
export function pdfOf(objects: (string | Buffer)[], trailer = ''): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let length = parts[0]!.length
  const push = (part: Buffer<ArrayBuffer>) => {
    parts.push(part)
    length += part.length
  }
  for (const [i, object] of objects.entries()) {
    offsets.push(length)
    push(
      Buffer.concat([
        Buffer.from(`${i + 1} 0 obj\n`),
        Buffer.from(object),
        Buffer.from('\nendobj\n'),
      ]),
    )
  }
  const table = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer<</Size ${size}/Root 1 0 R${trailer}>>\nstartxref\n${length}\n%%EOF`,
    ),
  )
  return Buffer.concat(parts)
}

/** A stream object. */
export const stream = (dictionary: string, bytes: Buffer | string) =>
  Buffer.concat([
    Buffer.from(`<<${dictionary}/Length ${Buffer.byteLength(bytes)}>>\nstream\n`),
    Buffer.from(bytes),
    Buffer.from('\nendstream'),
  ])

export type JpegImage = { jpeg: Buffer; width: number; height: number }

/**
 * A PDF of one page that shows `jpeg` with the operators `content`; `image` and `page` are added to the
 * dictionaries of both.
 */
export function scannedPdf(
  { jpeg, width, height }: JpegImage,
  options: { content?: string; image?: string; page?: string; colours?: string } = {},
): Buffer {
  const content = options.content ?? `q ${width} 0 0 ${height} 0 0 cm /I Do Q`
  const colours = options.colours ?? '/ColorSpace/DeviceRGB'
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Contents 4 0 R${options.page ?? ''}` +
      '/Resources<</XObject<</I 5 0 R>>/Font<</F 6 0 R>>>>>>',
    stream('', content),
    stream(
      `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8${colours}` +
        `/Filter/DCTDecode${options.image ?? ''}`,
      jpeg,
    ),
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ])
}

/** Opens a PDF until the end of `t`, from a path or from bytes. */
export async function openPdf(t: Test, source: Buffer | string, limits: Limits = defaultLimits) {
  const path = typeof source === 'string' ? source : join(t.testdir(), 'book.pdf')
  if (typeof source !== 'string') writeFileSync(path, source)
  return use(t, await pdfReader.open(use(t, openPath(path)), limits))
}

/** A line of text with its position in points, from the lower left corner. */
export type TextLine = [text: string, x: number, y: number]

type TextPage = { lines: readonly TextLine[]; rotate?: number }
type Outline = { title: string; page: number; children?: Outline[] }

/** A PDF of A5 pages with lines of text in Helvetica of 20 points, and an outline. */
export function textPdf(pages: readonly TextPage[], outline: readonly Outline[] = []): Buffer {
  const objects: (string | Buffer)[] = [
    '',
    '',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
  ]
  const add = (object: string | Buffer) => objects.push(object)
  const numbers = pages.map(({ lines, rotate = 0 }) => {
    const shown = lines.map(([text, x, y]) => `BT /F 20 Tf ${x} ${y} Td (${text}) Tj ET`)
    const content = add(stream('', shown.join('\n')))
    return add(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]/Rotate ${rotate}/Contents ${content} 0 R/Resources<</Font<</F 3 0 R>>>>>>`,
    )
  })
  const addOutline = (entries: readonly Outline[], parent: number): [number, number] => {
    const first = objects.length + 1
    for (const _ of entries) add('')
    for (const [i, { title, page, children = [] }] of entries.entries()) {
      const number = first + i
      const [down, last] = children.length > 0 ? addOutline(children, number) : [0, 0]
      objects[number - 1] =
        `<</Title(${title})/Parent ${parent} 0 R/Dest[${numbers[page - 1]} 0 R/Fit]${
          i > 0 ? `/Prev ${number - 1} 0 R` : ''
        }${i < entries.length - 1 ? `/Next ${number + 1} 0 R` : ''}${
          down ? `/First ${down} 0 R/Last ${last} 0 R/Count ${children.length}` : ''
        }>>`
    }
    return [first, first + entries.length - 1]
  }
  let root = ''
  if (outline.length > 0) {
    const number = add('')
    const [first, last] = addOutline(outline, number)
    objects[number - 1] = `<</First ${first} 0 R/Last ${last} 0 R/Count ${outline.length}>>`
    root = `/Outlines ${number} 0 R`
  }
  objects[0] = `<</Type/Catalog/Pages 2 0 R${root}>>`
  objects[1] = `<</Type/Pages/Count ${pages.length}/Kids[${numbers.map(n => `${n} 0 R`).join(' ')}]>>`
  return pdfOf(objects)
}
