// Writes sql/schema.sql (npm run schema): the schema that the migrations produce.
import { writeFileSync } from 'node:fs'
import { createDatabase } from '../db.ts'
import { dumpSchema, schemaFile } from './schema-dump.ts'

const ends: (() => unknown)[] = []
try {
  const { sql } = await createDatabase({ teardown: end => void ends.push(end as () => unknown) })
  writeFileSync(schemaFile, await dumpSchema(sql))
} finally {
  for (const end of ends.reverse()) await end()
}
