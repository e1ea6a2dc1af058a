// Sequential scans in query plans (EXPLAIN).
import type { Sql } from '../../lib/postgres/db.ts'

type Node = { 'Node Type': string; 'Relation Name'?: string; Plans?: Node[] }

/** Sequential scans of `book` and `series` in the plans of statements. */
export async function findScans(sql: Sql, statements: { text: string; values: unknown[] }[]) {
  const found: string[] = []
  for (const { text, values } of statements) {
    if (!/^\s*(with|select)\b/i.test(text)) continue
    const [row] = await sql.unsafe(`explain (format json) ${text}`, values as never[], {
      prepare: false,
    })
    const [{ Plan }] = row!['QUERY PLAN'] as [{ Plan: Node }]
    found.push(...scansOf(Plan))
  }
  return found
}

function scansOf(node: Node): string[] {
  const own =
    node['Node Type'] === 'Seq Scan' && ['book', 'series'].includes(node['Relation Name'] ?? '')
      ? [`Seq Scan on ${node['Relation Name']}`]
      : []
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)]
}
