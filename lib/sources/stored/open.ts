// Sources of this process, as configured.
import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import type { Log } from '../../base/log.ts'
import { fileAccess } from '../../catalog/library/library-root.ts'
import type { Config } from '../../store/config/config.ts'
import { openSecrets } from '../../store/secret/secrets.ts'
import { createSources, type Sources } from '../open.ts'

/** Reloadable keys are read on each use. */
export function openSources({ config, log }: { config: Config; log: Log }): Sources {
  const { dir } = config.plugins
  if (dir !== null && !isReadable(dir))
    log.warn({ folder: dir }, 'the plugin folder (plugins.dir) cannot be read')
  return createSources({
    http: { allowedNetworks: () => config.source.allowed_networks },
    plugins: { folder: dir, workFolder: resolve(config.data_dir, 'plugins') },
    dumps: {
      roots: () => fileAccess(config).linkFolders,
      dataDir: config.data_dir,
      indexFolder: resolve(config.data_dir, 'cache', 'dumps'),
    },
    secrets: openSecrets(config),
    log,
  })
}

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
