// Sources of this process as configured.
import { resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { Log } from '../../log.ts'
import { createSources, type Sources } from '../../source/open.ts'

/** Keys that can be reloaded are read at each use. */
export const openSources = ({ config, log }: { config: Config; log: Log }): Sources =>
  createSources({
    http: { allowedNetworks: () => config.source.allowed_networks },
    plugins: { folder: config.plugins.dir, workFolder: resolve(config.data_dir, 'plugins') },
    log,
  })
