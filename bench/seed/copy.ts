// Bulk loading of tables with COPY, several at once, and builds their indexes afterwards.
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Sql } from '../../lib/store/postgres/db.ts'

type Value = string | number | boolean | null | Date | string[] | object

/** Rows for tables, in the order they are given. `bytea` values are texts beginning with `\x`. */
export async function openCopies(sql: Sql, tables: Record<string, string[]>) {
  const open = new Map<string, { stream: Writable; text: string }>()
  const held: Awaited<ReturnType<Sql['reserve']>>[] = []
  for (const [table, columns] of Object.entries(tables)) {
    const connection = await sql.reserve()
    held.push(connection)
    // Neither references nor triggers: all rows are made to agree.
    await connection`set session_replication_role = replica`
    const stream = await connection`
      copy ${connection(table)} (${connection(columns)}) from stdin`.writable()
    open.set(table, { stream, text: '' })
  }
  return {
    async row(table: string, values: Value[]) {
      const copy = open.get(table)!
      copy.text += `${values.map(encode).join('\t')}\n`
      if (copy.text.length < 1 << 16) return
      const { text } = copy
      copy.text = ''
      if (!copy.stream.write(text)) await once(copy.stream, 'drain')
    },
    async end() {
      for (const { stream, text } of open.values()) {
        stream.end(text)
        await once(stream, 'finish')
      }
      for (const connection of held) {
        // Answered only when all was taken in.
        await connection`set session_replication_role = origin`
        connection.release()
      }
    },
  }
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const plain = (text: string) => text.replace(/[\\\t\n\r]/g, c => escapes[c]!)

function encode(value: Value): string {
  if (value === null) return '\\N'
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value) && typeof value[0] !== 'object')
    return plain(`{${value.map(v => `"${String(v).replace(/["\\]/g, '\\$&')}"`).join(',')}}`)
  if (typeof value === 'object') return plain(JSON.stringify(value))
  return typeof value === 'string' ? plain(value) : String(value)
}

/** Drops the indexes of tables that no constraint needs; answers what makes them again. */
export async function dropIndexes(sql: Sql, tables: string[]): Promise<string[]> {
  const rows = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition
    from pg_indexes
    where tablename in ${sql(tables)} and schemaname = current_schema()
      and not exists (select from pg_constraint where conname = indexname)`
  for (const { name } of rows) await sql`drop index ${sql(name)}`
  return rows.map(row => row.definition)
}
