// Sources of this process: rows of the table `source` as callable sources.
import { Errors } from 'typebox/schema'
import { Invalid } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { OwnerKind } from '../catalog/owner.ts'
import { credentialPlace, type Secrets } from '../store/secret/secrets.ts'
import { checkedSource } from './check.ts'
import type { Source } from './contract.ts'
import { dump } from './dump/dump.ts'
import { createDumps, type DumpsOptions } from './dump/dumps.ts'
import { SourceFailure } from './failure.ts'
import { feed } from './feed/feed.ts'
import { createHttpClient, type HttpOptions } from './http/client.ts'
import { http } from './mapping/http.ts'
import { listPlugins } from './plugin/folder.ts'
import { plugin } from './plugin/plugin.ts'
import { createPlugins, type PluginsOptions } from './plugin/plugins.ts'
import { preset, presetHas, presets } from './presets/presets.ts'
import type { SourceDeps, SourceRow, SourceType } from './source-type.ts'

const types = { preset, feed, http, dump, plugin } satisfies Record<string, SourceType<never>>
export type SourceTypeName = keyof typeof types
export const sourceTypes = Object.keys(types) as SourceTypeName[]

/** As stored: `credentials` are encrypted. */
export type TypedRow = SourceRow & { type: SourceTypeName }

/** Whether a source may have metadata of series or books; unknown, and thus true, for a plugin that was never called. */
export function mayHaveMetadata({ type, config, description }: TypedRow, kind: OwnerKind): boolean {
  if (type === 'feed') return false
  if (type === 'preset') return presetHas(config, kind)
  if (type === 'http') return (kind === 'series' ? config.search : config.bookSearch) !== undefined
  return (
    description === null ||
    description.capabilities.includes(kind === 'series' ? 'metadata' : 'books')
  )
}

type Credentials = Record<string, string>
export type Unsealed = { credentials: Credentials; unreadable: string[] }
type Unchecked = Pick<TypedRow, 'type' | 'config' | 'credentials'>

export type Sources = ReturnType<typeof createSources>

/** For a configuration that is no longer valid, such as after an upgrade: only this source's calls fail, with the reason. */
function failingSource(failure: SourceFailure): Source {
  const fail = async () => {
    throw failure
  }
  return {
    ...{ describe: fail, searchSeries: fail, fetchSeries: fail },
    ...{ searchBooks: fail, fetchBook: fail, listReleases: fail },
  }
}

export type SourceOptions = {
  http: HttpOptions
  plugins: PluginsOptions
  dumps: DumpsOptions
  secrets: Secrets
  log: Log
}

export function createSources({ log, secrets, ...options }: SourceOptions) {
  const client = createHttpClient(options.http)
  const plugins = createPlugins({ ...options.plugins, log })
  const dumps = createDumps({ ...options.dumps, log })
  const deps: SourceDeps = { http: client, plugins, dumps }
  const typeOf = (name: SourceTypeName) => types[name] as unknown as SourceType<unknown>
  /** The readable stored credentials of a source, and the names of the unreadable ones. */
  const unseal = (row: Pick<TypedRow, 'id' | 'credentials'>) => unsealed(secrets, row)
  /** The failure of calls while credentials cannot be read; null if all can. */
  const unreadable = (row: TypedRow) => {
    const { unreadable: names } = unseal(row)
    return names.length === 0 ? null : new SourceFailure(missingMessage(row, names), 'refused')
  }
  return {
    /** For covers and other files that sources name. */
    http: client,
    /** The credentials of a source as the database stores them. The caller holds `lockSecrets`. */
    seal: (sourceId: string, credentials: Credentials): Credentials =>
      Object.fromEntries(
        Object.entries(credentials).map(([name, value]) => [
          name,
          secrets.seal(value, credentialPlace(sourceId, name)),
        ]),
      ),
    unseal,
    unreadable,
    /** Opens nothing before the first call. Answers are checked; functions reject with SourceFailure. */
    open(row: TypedRow): Source {
      const failure = unreadable(row)
      if (failure !== null) return failingSource(failure)
      try {
        const { credentials } = unseal(row)
        return checkedSource(typeOf(row.type).open({ ...row, credentials }, deps))
      } catch (cause) {
        if (!(cause instanceof Invalid)) throw cause
        return failingSource(
          new SourceFailure(`${row.displayName}: ${cause.message}`, 'refused', { cause }),
        )
      }
    },
    /** Lists of releases known without a request; null if only `describe` knows them. */
    releaseSources: (row: TypedRow) => typeOf(row.type).releaseSources(row),
    /** Throws Invalid that names the value. `credentials` are not encrypted. */
    checkConfig({ type: name, config, credentials }: Unchecked) {
      const type = typeOf(name)
      const [, [error]] = Errors(type.Config, config)
      if (error) {
        const place = ['config', ...error.instancePath.split('/').slice(1)].join('.')
        const isUnknown = error.message === 'schema is false'
        throw new Invalid(`${place} ${isUnknown ? 'is not a known setting' : error.message}`)
      }
      type.check({ config, credentials }, deps)
    },
    /** JSON Schemas of configurations by type, the presets, and the names of available plugins. */
    describeTypes: () => ({
      types: sourceTypes.map(type => ({ type, config: typeOf(type).Config })),
      presets: [...presets],
      plugins: listPlugins(plugins.folder),
    }),
    /** Ends everything that runs for a disabled source. */
    stop: plugins.stop,
    /** Ends everything that runs for a deleted source, and deletes its files. */
    async remove(id: string) {
      await Promise.all([plugins.remove(id), dumps.remove(id)])
    },
    async close() {
      await Promise.all([plugins.close(), dumps.close()])
    },
  }
}

function unsealed(
  secrets: Secrets,
  { id, credentials }: Pick<TypedRow, 'id' | 'credentials'>,
): Unsealed {
  const values = Object.entries(credentials).map(
    ([name, sealed]) => [name, secrets.open(sealed, credentialPlace(id, name))] as const,
  )
  const readable = values.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
  return {
    credentials: Object.fromEntries(readable),
    unreadable: values.filter(([, value]) => value === null).map(([name]) => name),
  }
}

/** For administrators. */
export const missingMessage = (
  { displayName }: { displayName: string },
  names: readonly string[],
) =>
  `${displayName}: the credentials ${names.join(', ')} were encrypted with another key (secrets.key_file); enter them again, or restore that key file`
