// Plugin processes of this process, by source, and the configuration of a plugin source.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../base/log.ts'
import { maybe, type Static, strict, Type } from '../../base/schema.ts'
import { SourceFailure } from '../failure.ts'
import { openConnection, type Pace, type PluginConnection } from './connection.ts'
import { commandOf, entryPattern } from './folder.ts'

export const PluginConfig = strict({
  plugin: Type.String({
    pattern: entryPattern,
    description: 'Name of an entry in the folder plugins.dir.',
  }),
  settings: maybe(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'Passed to the plugin unchanged.',
    }),
  ),
  timeoutSeconds: maybe(
    Type.Integer({
      minimum: 1,
      maximum: 300,
      default: 60,
      description: 'Timeout of a call in seconds.',
    }),
  ),
  memoryMb: maybe(
    Type.Integer({
      minimum: 32,
      maximum: 4096,
      default: 512,
      description: 'Memory limit of all its processes together, in MiB; only on Linux.',
    }),
  ),
})
export type PluginConfig = Static<typeof PluginConfig>

export type PluginsOptions = {
  /** Folder of plugins; null if there is none. */
  folder: string | null
  /** Contains a working folder for each plugin. */
  workFolder: string
  pace?: Partial<Pace>
}

type PluginRow = {
  id: string
  displayName: string
  config: PluginConfig
  credentials: Record<string, string>
}

export type Plugins = ReturnType<typeof createPlugins>

export function createPlugins({ folder, workFolder, pace, log }: PluginsOptions & { log: Log }) {
  const connections = new Map<string, { key: string; connection: PluginConnection }>()
  /** Ends the process of a source. */
  const stop = async (id: string) => {
    const connection = connections.get(id)?.connection
    connections.delete(id)
    await connection?.stop()
  }
  return {
    folder,
    /** Starts nothing. Throws SourceFailure if the plugin does not exist. */
    connect({ id, displayName: name, config, credentials }: PluginRow): PluginConnection {
      const key = JSON.stringify([config, credentials, name])
      const known = connections.get(id)
      if (known?.key === key) return known.connection
      if (known) stop(id).catch(error => log.error({ err: error }, 'plugin not stopped'))
      const command = commandOf(folder, config.plugin)
      if (command === null)
        throw new SourceFailure(`${name} is not in the plugin folder`, 'unreachable')
      const connection = openConnection({
        ...{ name, command, credentials, log, pace },
        folder: join(workFolder, id),
        settings: config.settings ?? {},
        timeoutMs: (config.timeoutSeconds ?? defaultTimeoutSeconds) * 1000,
        maxMemoryBytes: (config.memoryMb ?? defaultMemoryMb) * 1024 * 1024,
      })
      connections.set(id, { key, connection })
      return connection
    },
    stop,
    /** Like `stop`, and deletes its working folder. */
    async remove(id: string) {
      await stop(id)
      await rm(join(workFolder, id), { recursive: true, force: true })
    },
    async close() {
      await Promise.all([...connections.keys()].map(stop))
    },
  }
}

const defaultTimeoutSeconds = 60
const defaultMemoryMb = 512
