// Files as they are served: media type, ETag and compressed forms.
import { hash } from 'node:crypto'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** A file as it is served. Already compressed formats have only `plain`. */
export type Asset = {
  type: string
  etag: string
  plain: Uint8Array
  gzip: Uint8Array | null
  brotli: Uint8Array | null
}

const mediaTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** Throws when the extension of the path has no media type. */
export async function compress(path: string, content: Uint8Array): Promise<Asset> {
  const extension = extname(path)
  const type = mediaTypes[extension]
  if (type === undefined) throw new Error(`No media type for ${path}`)
  const etag = `"${hash('sha256', content, 'base64url').slice(0, 22)}"`
  const common = { type, plain: content, etag }
  if (['.png', '.woff2'].includes(extension)) return { ...common, gzip: null, brotli: null }
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    // Clearing the default window of 4 MB for each file took more than half of the build.
    [constants.BROTLI_PARAM_LGWIN]: windowBits(content.length),
  }
  const [brotli, gzip] = await Promise.all([
    compressBrotli(content, { params }),
    compressGzip(content, { level: 9 }),
  ])
  return { ...common, gzip, brotli }
}

/** Smallest window that covers the file, as Brotli counts it (RFC 7932, 9.1). */
const windowBits = (length: number) => Math.min(Math.max(Math.ceil(Math.log2(length + 16)), 10), 22)
