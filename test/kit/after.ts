// Runs after all tests: stops PostgreSQL unless another test run uses it.
import { join } from 'node:path'
import { startPostgres } from '../../lib/store/postgres/embedded/embedded.ts'
import { readPostmaster } from '../../lib/store/postgres/embedded/server.ts'
import { externalUrl, serverDataDir } from './db.ts'

if (!externalUrl && readPostmaster(join(serverDataDir, 'postgres'))) {
  const postgres = await startPostgres({ dataDir: serverDataDir, throwaway: true })
  await postgres.stop()
}
