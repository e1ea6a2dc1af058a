// Expected failure of a source, for `t.rejects`.
import type { SourceFailure } from '../../lib/sources/failure.ts'

export const failing = (fields: Partial<Record<keyof SourceFailure, unknown>>): Error =>
  fields as Error
