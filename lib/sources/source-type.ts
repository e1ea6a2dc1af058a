// Source type: its configuration, and how a stored source becomes callable.
import type { TObject } from 'typebox'
import type { ReleaseSourceDescription, Source, SourceDescription } from './contract.ts'
import type { Dumps } from './dump/dumps.ts'
import type { HttpClient } from './http/client.ts'
import type { Plugins } from './plugin/plugins.ts'

/** A row of the table `source`. `config` was checked when it was stored. */
export type SourceRow<C = Record<string, unknown>> = {
  id: string
  name: string
  displayName: string
  config: C
  /** Request headers by name, or what a plugin receives. */
  credentials: Record<string, string>
  /** The last answer of `describe`: a plugin can do only what it describes. */
  description: SourceDescription | null
}

export type SourceDeps = {
  http: HttpClient
  plugins: Plugins
  dumps: Dumps
}

export type SourceType<C> = {
  Config: TObject
  /** Throws Invalid for what the schema cannot express. */
  check(source: Pick<SourceRow<C>, 'config' | 'credentials'>, deps: SourceDeps): void
  /** Lists known without a request; null if only `describe` knows them. */
  releaseSources(row: SourceRow<C>): ReleaseSourceDescription[] | null
  open(row: SourceRow<C>, deps: SourceDeps): Source
}
