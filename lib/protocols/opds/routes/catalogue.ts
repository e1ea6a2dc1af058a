// The OPDS catalog of a request: its tree, and the key in its path.
import type { FastifyRequest } from 'fastify'
import { type CataloguePath, parseCataloguePath } from '../catalogue-path.ts'

/** Null for paths outside the catalogs. */
export const catalogueOf = ({ sentPath, headers }: FastifyRequest): CataloguePath | null =>
  parseCataloguePath(sentPath, headers.accept)
