// The OPDS catalog of a request: its tree, and the key in its path.
import type { FastifyRequest } from 'fastify'
import { type CatalogPath, parseCatalogPath } from '../catalog-path.ts'

/** Null for paths outside the catalogs. */
export const catalogOf = ({ sentPath, headers }: FastifyRequest): CatalogPath | null =>
  parseCatalogPath(sentPath, headers.accept)
