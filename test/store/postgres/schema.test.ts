// The committed sql/schema.sql matches the migrations.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { createDatabase } from '../../kit/db.ts'
import { dumpSchema, schemaFile } from '../../kit/generate/schema-dump.ts'

t.test('sql/schema.sql is up to date (npm run schema)', async t => {
  const { sql } = await createDatabase(t)
  t.equal(await dumpSchema(sql), readFileSync(schemaFile, 'utf8'))
})
