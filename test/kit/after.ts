// Runs after all tests: stops PostgreSQL unless another test run uses it.
import { join } from 'node:path'
import { readPostmaster } from '../../lib/postgres/embedded/server.ts'
import { serverDataDir, startTestPostgres } from './db.ts'

if (readPostmaster(join(serverDataDir, 'postgres'))) {
  const postgres = await startTestPostgres()
  await postgres.stop()
}
