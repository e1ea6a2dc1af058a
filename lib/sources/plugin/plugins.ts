// Plugin processes of this process, by source.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../base/log.ts'
import { SourceFailure } from '../failure.ts'
import type { PluginConfig } from './config.ts'
import { openConnection, type Pace, type PluginConnection } from './connection.ts'
import { commandOf } from './folder.ts'

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

export type Plugins = {
  folder: string | null
  /** Starts nothing. Throws SourceFailure if the plugin does not exist. */
  connect(row: PluginRow): PluginConnection
  /** Ends the process of a source. */
  stop(id: string): Promise<void>
  /** Like `stop`, and deletes its working folder. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}

export function createPlugins({
  folder,
  workFolder,
  pace,
  log,
}: PluginsOptions & { log: Log }): Plugins {
  const connections = new Map<string, { key: string; connection: PluginConnection }>()
  const stop = async (id: string) => {
    const connection = connections.get(id)?.connection
    connections.delete(id)
    await connection?.stop()
  }
  return {
    folder,
    connect({ id, displayName: name, config, credentials }) {
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
    async remove(id) {
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
