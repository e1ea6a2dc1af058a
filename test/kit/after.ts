// After a test run: stops the server, unless another run is using it.
import { join } from 'node:path'
import { readPostmaster } from '../../lib/postgres/embedded/server.ts'
import { serverHome, startServer } from './db.ts'

if (readPostmaster(join(serverHome, 'postgres'))) {
  const server = await startServer()
  await server.stop()
}
