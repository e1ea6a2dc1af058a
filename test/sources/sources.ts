// Sources for tests, that may reach servers of this host.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLog } from '../../lib/base/log.ts'
import { createSources, type SourceOptions } from '../../lib/sources/open.ts'
import type { Secrets } from '../../lib/store/secret/secrets.ts'
import type { Scope } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'

/** Rows of these tests are made by hand. */
const plainSecrets: Secrets = {
  ...{ file: '', keyId: () => '', seal: text => text, open: text => text },
}

type Options = { [K in keyof SourceOptions]?: Partial<SourceOptions[K]> }

/** Without plugins and pauses between requests unless `options` have them; closed at the end of `t`. */
export function openTestSources(t: Scope, { http, plugins, dumps }: Options = {}) {
  const folder = temporaryFolder(t)
  const sources = createSources({
    http: { allowedNetworks: () => '127.0.0.0/8', intervalMs: 0, ...http },
    plugins: { folder: null, workFolder: join(folder, 'plugins'), ...plugins },
    dumps: {
      roots: () => [tmpdir()],
      dataDir: join(folder, 'data'),
      indexFolder: join(folder, 'dumps'),
      ...dumps,
    },
    secrets: plainSecrets,
    log: openLog({ level: 'silent' }),
  })
  t.teardown(() => sources.close())
  return sources
}
