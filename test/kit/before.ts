// Runs before all tests: starts PostgreSQL and builds the template database.
import { connect } from '../../lib/store/postgres/db.ts'
import { createTemplate, emptyCatalog, startTestPostgres } from './db.ts'

const postgres = await startTestPostgres()
const admin = connect(postgres.url, { max: 1, name: 'stackroom test' })
await createTemplate({ postgres, admin }, emptyCatalog())
await admin.end()
await postgres.leave()
