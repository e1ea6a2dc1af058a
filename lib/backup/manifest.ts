// Manifest of a backup: what the file contains, with the checksums that prove it whole.

import type { Static } from 'typebox'
import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { Invalid } from '../base/errors.ts'
import { maxPieceBytes } from './pieces.ts'

/** Format of the file as a whole; a later format has another number. */
const format = 1

const Count = Type.Integer({ minimum: 0 })
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

const Manifest = Type.Object({
  format: Type.Literal(format),
  /** Version of Stackroom that wrote the file. */
  version: Type.String(),
  createdAt: Type.String(),
  /** Version of PostgreSQL that the rows come from. */
  postgres: Type.String(),
  /** Migrations of the schema that the rows belong to. */
  migrations: Type.Array(Type.Object({ number: Count, name: Type.String(), sha256: Sha256 }), {
    minItems: 1,
  }),
  tables: Type.Array(
    Type.Object({
      name: Type.String(),
      columns: Type.Array(Type.String()),
      rows: Count,
      /** Of the rows as text, uncompressed. */
      bytes: Count,
      sha256: Sha256,
      /** Entries `data/<name>/0001.zst` and so on: bytes uncompressed, checksum of the entry. */
      pieces: Type.Array(
        Type.Object({
          bytes: Type.Integer({ minimum: 0, maximum: maxPieceBytes }),
          sha256: Sha256,
        }),
      ),
    }),
  ),
  sequences: Type.Array(
    Type.Object({ name: Type.String(), value: Type.Union([Count, Type.Null()]) }),
  ),
  /** Uploaded covers and their thumbnails; `missing` had no file. */
  covers: Type.Object({ files: Count, bytes: Count, missing: Count }),
  /** Whether the key of the secrets in the rows is in `keys.sealed`. */
  hasKeys: Type.Boolean(),
  /** Sources whose credentials need the key. */
  sourcesWithSecrets: Type.Array(Type.String()),
})
export type Manifest = Static<typeof Manifest>
export type TableManifest = Manifest['tables'][number]

export const manifestFormat = format
export const manifestEntry = 'manifest.json'
export const keysEntry = 'keys.sealed'
export const coversFolder = 'covers/'
export const thumbnailsFolder = 'thumbnails/'

/** Pieces are counted from 0. */
export const pieceEntry = (table: string, piece: number): string =>
  `data/${table}/${String(piece + 1).padStart(5, '0')}.zst`

const validator = Compile(Manifest)

/** Throws Invalid for what is no manifest of this format. */
export function parseManifest(text: string): Manifest {
  const value = parseJson(text)
  const stated = (value as { format?: unknown } | null)?.format
  if (typeof stated === 'number' && stated > format)
    throw new Invalid(
      'The backup was written by a newer version of Stackroom; install that version',
    )
  if (!validator.Check(value)) throw new Invalid('The manifest of the backup is damaged')
  return value as Manifest
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
