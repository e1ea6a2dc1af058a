// Before a test run: the server and the migrated template, so that no test file pays for them.
import { connect } from '../../lib/postgres/db.ts'
import './make-client.ts'
import { makeTemplate, startServer } from './db.ts'

const server = await startServer()
const admin = connect(server.url, { max: 1, name: 'stackroom test' })
await makeTemplate(admin, server)
await admin.end()
await server.leave()
