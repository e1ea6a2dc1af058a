// Type of a source: its configuration, and how a stored source becomes one that can be called.
import type { TObject } from 'typebox'
import type { Log } from '../log.ts'
import type { ReleaseSourceDescription, Source } from './contract.ts'
import type { HttpClient } from './http/client.ts'

/** A row of the table `source`. `config` was checked when it was stored. */
export type SourceRow<C = Record<string, unknown>> = {
  id: string
  name: string
  displayName: string
  config: C
  /** Headers of requests by name, or what a plugin receives. */
  credentials: Record<string, string>
}

export type SourceDeps = {
  http: HttpClient
  log: Log
}

export type SourceType<C> = {
  Config: TObject
  /** Throws Invalid for what the schema does not express. */
  check(config: C, deps: SourceDeps): void
  /** Without a request; null: as `describe` answers. */
  releaseSources(row: SourceRow<C>): ReleaseSourceDescription[] | null
  open(row: SourceRow<C>, deps: SourceDeps): Source
}
