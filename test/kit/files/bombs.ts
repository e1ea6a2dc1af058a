// Decoder bombs: small files that would take decoders a long time or much memory, one for each weakness.
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { pngChunk, zip } from './archives.ts'
import { goldenFile } from './corpus.ts'
import { epubBytes } from './epub.ts'
import { exampleImage } from './images.ts'
import { pdfOf, stream } from './pdf.ts'
import { storedRar, storedSevenZip } from './stored-archives.ts'

/** `extension`: of an image or a book. */
export type Bomb = { name: string; extension: string; bytes: Buffer }
type Maker = { extension: string; make: () => Promise<Buffer> | Buffer }

const svg = (inner: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="1800">${inner}</svg>`)

/** Levels of groups, each of which draws the next ten times. */
const levels = (count: number, draw: (level: number) => string) =>
  Array.from({ length: count }, (_, i) => draw(i)).join('')

const rect = '<rect width="1200" height="1800"/>'
const filtered = (filter: string, times = 1) =>
  svg(`<filter id="f">${filter}</filter>${`<g filter="url(#f)">${rect}</g>`.repeat(times)}`)

const svgBombs: Record<string, () => Buffer> = {
  use: () =>
    svg(
      `${levels(8, i => `<g id="a${i}">${`<use href="#a${i + 1}"/>`.repeat(10)}</g>`)}<g id="a8">${rect}</g>`,
    ),
  pattern: () =>
    svg(
      `${levels(7, i => `<pattern id="p${i}" width="1" height="1">${`<rect width="9" height="9" fill="url(#p${i + 1})"/>`.repeat(10)}</pattern>`)}<rect width="900" height="900" fill="url(#p0)"/>`,
    ),
  mask: () =>
    svg(
      `${levels(7, i => `<mask id="m${i}">${`<rect width="9" height="9" mask="url(#m${i + 1})"/>`.repeat(10)}</mask>`)}<rect width="900" height="900" mask="url(#m0)"/>`,
    ),
  style: () =>
    svg(
      `<style>${levels(7, i => `.c${i}{fill:url(#p${i})}`)}</style>${levels(7, i => `<pattern id="p${i}" width="1" height="1">${`<circle r="9" class="c${i + 1}"/>`.repeat(10)}</pattern>`)}<rect width="900" height="900" class="c0"/>`,
    ),
  blur: () => filtered('<feGaussianBlur stdDeviation="400"/>', 300),
  morphology: () => filtered('<feMorphology operator="dilate" radius="600"/>', 20),
  turbulence: () => filtered('<feTurbulence baseFrequency="0.9" numOctaves="9999"/>', 40),
  dashes: () =>
    svg(
      `<path stroke="red" stroke-dasharray="0.01" d="M0 0${' L1200 1800 L0 1800 L1200 0'.repeat(2000)}"/>`,
    ),
  text: () => svg(`<text>${'W'.repeat(400_000)}</text>`),
  embedded: () => {
    const image = flatPng({ side: 20_000, depth: 8 }).toString('base64')
    return svg(`<image width="1200" height="1800" href="data:image/png;base64,${image}"/>`)
  },
}

type FlatPng = {
  side: number
  depth: number
  colour?: number
  interlace?: number
  /** Chunks before the pixels. */
  before?: Buffer[]
}

/** A PNG of one value; all its pixels exist. */
function flatPng({ side, depth, colour = 0, interlace = 0, before = [] }: FlatPng) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([depth, colour, 0, 0, interlace], 8)
  const channels = colour === 6 ? 4 : 1
  const rowBytes = 1 + Math.ceil((side * channels * depth) / 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...before,
    pngChunk('IDAT', deflateSync(Buffer.alloc(rowBytes * side), { level: 1 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

const inflatedProfile = () =>
  pngChunk(
    'iCCP',
    Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(64 * 1024 * 1024))]),
  )

const pngBombs: Record<string, () => Buffer> = {
  'png 20,000 grey': () => flatPng({ side: 20_000, depth: 8 }),
  'png 30,000 black and white': () => flatPng({ side: 30_000, depth: 1 }),
  'png interlaced': () => flatPng({ side: 6_000, depth: 16, colour: 6, interlace: 1 }),
  'png profile': () => flatPng({ side: 64, depth: 8, before: [inflatedProfile()] }),
}

const flat = (side: number) =>
  sharp({
    create: { width: side, height: side, channels: 3, background: '#888' },
    limitInputPixels: false,
  })

/** The same scan of a progressive JPEG many times. */
async function manyScans(side: number, count: number): Promise<Buffer> {
  const bytes = await flat(side).jpeg({ progressive: true }).toBuffer()
  const starts: number[] = []
  for (let at = bytes.indexOf('ffda', 0, 'hex'); at >= 0; at = bytes.indexOf('ffda', at + 2, 'hex'))
    starts.push(at)
  const last = bytes.subarray(starts.at(-1)!, -2)
  return Buffer.concat([bytes.subarray(0, -2), ...Array(count).fill(last), bytes.subarray(-2)])
}

/** The declared size of the image in all `ispe` boxes. */
function withExtent(bytes: Buffer, side: number): Buffer {
  for (let at = bytes.indexOf('ispe'); at >= 0; at = bytes.indexOf('ispe', at + 4)) {
    bytes.writeUInt32BE(side, at + 8)
    bytes.writeUInt32BE(side, at + 12)
  }
  return bytes
}

const rasterBombs: Record<string, Maker> = {
  'jpeg of 300 scans': { extension: 'jpg', make: () => manyScans(4_000, 300) },
  'jpeg 20,000 progressive': {
    extension: 'jpg',
    async make() {
      const bytes = await flat(64).jpeg({ progressive: true }).toBuffer()
      const frame = bytes.indexOf('ffc2', 0, 'hex')
      bytes.writeUInt16BE(20_000, frame + 5)
      bytes.writeUInt16BE(20_000, frame + 7)
      return bytes
    },
  },
  'webp 8,000': { extension: 'webp', make: () => flat(8_000).webp({ effort: 0 }).toBuffer() },
  'webp lossless 8,000': {
    extension: 'webp',
    make: () => flat(8_000).webp({ lossless: true, effort: 0 }).toBuffer(),
  },
  'avif 30,000': {
    extension: 'avif',
    make: async () => withExtent(await exampleImage('avif'), 30_000),
  },
  'avif larger than declared': {
    extension: 'avif',
    make: async () => withExtent(await flat(5_000).avif({ effort: 0 }).toBuffer(), 16),
  },
  'jxl 1,000 million': {
    extension: 'jxl',
    async make() {
      const bytes = await exampleImage('jxl')
      bytes.set([0xff, 0x0a, 0xfe, 0xff, 0xff, 0xff, 0x03])
      return bytes
    },
  },
  'heic 30,000': {
    extension: 'heic',
    make: () => withExtent(Buffer.from(goldenFile('images/rotated.heic')), 30_000),
  },
  'tiff 15,000': {
    extension: 'tif',
    make: () => flat(15_000).tiff({ compression: 'deflate' }).toBuffer(),
  },
  'gif of 65,535': {
    extension: 'gif',
    async make() {
      const bytes = await flat(64).gif({ effort: 1 }).toBuffer()
      bytes.fill(0xff, 6, 10)
      return bytes
    },
  },
  'bmp of 60,000': {
    extension: 'bmp',
    async make() {
      const bytes = await exampleImage('bmp')
      bytes.writeInt32LE(60_000, 18)
      bytes.writeInt32LE(60_000, 22)
      return bytes
    },
  },
}

const page = (content: string, resources: string, more: (string | Buffer)[]) =>
  pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 900]/Contents 4 0 R/Resources<<${resources}>>>>`,
    stream('', content),
    ...more,
  ])
const form = (content: string, resources: string) =>
  stream(`/Type/XObject/Subtype/Form/BBox[0 0 600 900]/Resources<<${resources}>>`, content)

const pdfBombs: Record<string, () => Buffer> = {
  'pdf of nested forms': () =>
    page('/F Do '.repeat(10), '/XObject<</F 5 0 R>>', [
      ...Array.from({ length: 8 }, (_, i) =>
        form('/F Do '.repeat(10), `/XObject<</F ${i + 6} 0 R>>`),
      ),
      form('0 0 600 900 re f', ''),
    ]),
  'pdf image of 30,000': () =>
    page('600 0 0 900 0 0 cm /I Do', '/XObject<</I 5 0 R>>', [
      stream(
        '/Type/XObject/Subtype/Image/Width 30000/Height 30000/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode',
        deflateSync(Buffer.alloc(64 * 1024 * 1024)),
      ),
    ]),
  'pdf of 3 million curves': () =>
    pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 900]/Contents 4 0 R>>',
      stream(
        '/Filter/FlateDecode',
        deflateSync(Buffer.from('0 0 m 300 900 600 0 0 900 c S\n'.repeat(3_000_000))),
      ),
    ]),
}

const archiveBombs: Record<string, Maker> = {
  'epub with a drawn cover': {
    extension: 'epub',
    make() {
      const item = '<item id="c" href="c.svg" media-type="image/svg+xml" properties="cover-image"/>'
      return epubBytes({ manifest: item, files: { 'OPS/c.svg': svgBombs.use!() } })
    },
  },
  'rar with a drawing': {
    extension: 'cbr',
    make: () => storedRar([{ name: '1.svg', bytes: svgBombs.use!() }]),
  },
  'rar with an image': {
    extension: 'cbr',
    make: () => storedRar([{ name: '1.png', bytes: flatPng({ side: 20_000, depth: 1 }) }]),
  },
  '7z with a drawing': {
    extension: 'cb7',
    make: () => storedSevenZip([{ name: '1.svg', bytes: svgBombs.use!() }]),
  },
  '7z with an image': {
    extension: 'cb7',
    make: () => storedSevenZip([{ name: '1.png', bytes: flatPng({ side: 20_000, depth: 1 }) }]),
  },
  'zip of 200 MB': {
    extension: 'cbz',
    async make() {
      const jpeg = await flat(64).jpeg().toBuffer()
      const bytes = Buffer.concat([jpeg, Buffer.alloc(200 * 1024 * 1024)])
      return zip([{ name: '1.jpg', bytes, deflate: true }])
    },
  },
}

const withExtension = (extension: string, makers: Record<string, () => Buffer>, prefix = '') =>
  Object.entries(makers).map(([name, make]) => [prefix + name, { extension, make }] as const)

/** How to make each bomb; making all takes some seconds. */
const makers = new Map<string, Maker>([
  ...withExtension('svg', svgBombs, 'svg '),
  ...withExtension('png', pngBombs),
  ...Object.entries(rasterBombs),
  ...withExtension('pdf', pdfBombs),
  ...Object.entries(archiveBombs),
])

/** The bombs with these names, by default all. */
export async function createBombs(names: Iterable<string> = makers.keys()): Promise<Bomb[]> {
  const bombs: Bomb[] = []
  for (const name of names) {
    const { extension, make } = makers.get(name)!
    bombs.push({ name, extension, bytes: await make() })
  }
  return bombs
}

const bookExtensions = ['pdf', 'epub', 'cbr', 'cb7', 'cbz']

/** A bomb as a book: an image is the first page of a comic. */
export function bookOfBomb({ name, extension, bytes }: Bomb): { name: string; bytes: Buffer } {
  const fileName = name.replace(/[ ,]+/g, '-')
  if (bookExtensions.includes(extension)) return { name: `${fileName}.${extension}`, bytes }
  return { name: `${fileName}.cbz`, bytes: zip([{ name: `1.${extension}`, bytes }]) }
}
