// Sources of this process as configured.
import { resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { Log } from '../../log.ts'
import { createSources, type Sources } from '../../source/open.ts'
import { fileAccess } from '../library/library-root.ts'

/** Keys that can be reloaded are read at each use. */
export const openSources = ({ config, log }: { config: Config; log: Log }): Sources =>
  createSources({
    http: { allowedNetworks: () => config.source.allowed_networks },
    plugins: { folder: config.plugins.dir, workFolder: resolve(config.data_dir, 'plugins') },
    dumps: {
      roots: () => (config.filesystem.roots === null ? null : fileAccess(config).linkFolders),
      dataDir: config.data_dir,
      indexFolder: resolve(config.data_dir, 'cache', 'dumps'),
    },
    log,
  })
