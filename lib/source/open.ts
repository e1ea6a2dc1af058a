// Sources of this process: turns rows of the table `source` into something that can be called.
import { Errors } from 'typebox/schema'
import { Invalid } from '../errors.ts'
import type { Log } from '../log.ts'
import { checkedSource } from './check.ts'
import type { ReleaseSourceDescription, Source } from './contract.ts'
import { feed } from './feed/feed.ts'
import { createHttpClient, type HttpClient, type HttpOptions } from './http/client.ts'
import type { SourceDeps, SourceRow, SourceType } from './source-type.ts'

const types = { feed } satisfies Record<string, SourceType<never>>
export type SourceTypeName = keyof typeof types
export const sourceTypes = Object.keys(types) as SourceTypeName[]

export type TypedRow = SourceRow & { type: SourceTypeName }

export type Sources = {
  /** For covers that sources name, and other files. */
  http: HttpClient
  /** Opens nothing before the first call. Answers are checked; functions reject with SourceFailure. */
  open(row: TypedRow): Source
  /** Lists of releases that are known without a request; null: as `describe` answers. */
  releaseSources(row: TypedRow): ReleaseSourceDescription[] | null
  /** Throws Invalid that names the value. */
  checkConfig(type: SourceTypeName, config: unknown): void
  close(): Promise<void>
}

export type SourceOptions = { http: HttpOptions; log: Log }

export function createSources({ http: httpOptions, log }: SourceOptions): Sources {
  const http = createHttpClient(httpOptions)
  const deps: SourceDeps = { http, log }
  const typeOf = (name: SourceTypeName) => types[name] as unknown as SourceType<unknown>
  return {
    http,
    open: row => checkedSource(typeOf(row.type).open(row, deps)),
    releaseSources: row => typeOf(row.type).releaseSources(row),
    checkConfig(name, config) {
      const type = typeOf(name)
      const [, [error]] = Errors(type.Config, config)
      if (error) {
        const place = ['config', ...error.instancePath.split('/').slice(1)].join('.')
        throw new Invalid(`${place} ${error.message}`)
      }
      type.check(config, deps)
    },
    async close() {},
  }
}
