// Animations of two frames as WebP and APNG.
import { crc32 } from 'node:zlib'
import sharp from 'sharp'

type Size = { width: number; height: number }

export async function animatedWebp({ width, height }: Size): Promise<Buffer> {
  const frameBytes = width * height * 3
  const pixels = Buffer.alloc(frameBytes * 2, 40)
  pixels.fill(200, frameBytes)
  const raw = { width, height: height * 2, channels: 3, pageHeight: height } as const
  return await sharp(pixels, { raw })
    .webp({ delay: [100, 100] })
    .toBuffer()
}

/** acTL before the data, and the same data again as a second frame (https://www.w3.org/TR/png-3/#apng-frame-based-animation). */
export async function animatedPng({ width, height }: Size): Promise<Buffer> {
  const create = { width, height, channels: 3, background: '#284878' } as const
  const png = await sharp({ create }).png().toBuffer()
  const chunks = chunksOf(png)
  const data = Buffer.concat(chunks.filter(({ name }) => name === 'IDAT').map(({ body }) => body))
  const frame = (sequence: number) =>
    chunk(
      'fcTL',
      Buffer.concat([numbers(sequence, width, height, 0, 0), Buffer.from('000a00640000', 'hex')]),
    )
  return Buffer.concat([
    png.subarray(0, 8),
    chunk('IHDR', chunks[0]!.body),
    chunk('acTL', numbers(2, 0)),
    frame(0),
    chunk('IDAT', data),
    frame(1),
    chunk('fdAT', Buffer.concat([numbers(2), data])),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunksOf(png: Buffer) {
  const chunks: { name: string; body: Buffer }[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    chunks.push({
      name: png.toString('latin1', at + 4, at + 8),
      body: png.subarray(at + 8, at + 8 + png.readUInt32BE(at)),
    })
  return chunks
}

function chunk(name: string, body: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(name, 'latin1'), body])
  return Buffer.concat([numbers(body.length), content, numbers(crc32(content))])
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4)
  return bytes
}
