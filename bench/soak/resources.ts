// Resources of a server process and of its database: memory, descriptors, connections. Linux only.
import { readdirSync, readFileSync } from 'node:fs'
import type { Sql } from '../../lib/store/postgres/db.ts'

/** Memory in MB; `pss` counts shared pages in parts. Of the database all processes together. */
export type Resources = {
  rss: number
  pss: number
  descriptors: number
  threads: number
  databasePss: number
  connections: number
}

/** Without the connections of the program `observer`. */
export async function resourcesOf(pid: number, sql: Sql, observer: string): Promise<Resources> {
  const backends = await sql<{ pid: number; isClient: boolean }[]>`
    select pid, backend_type = 'client backend' and application_name <> ${observer} as "isClient"
    from pg_stat_activity`
  const memory = memoryOf(pid)
  return {
    ...{ rss: memory?.rss ?? 0, pss: memory?.pss ?? 0 },
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    databasePss: rounded(backends.reduce((sum, row) => sum + (memoryOf(row.pid)?.pss ?? 0), 0)),
    connections: backends.filter(row => row.isClient).length,
  }
}

function memoryOf(pid: number): { rss: number; pss: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const mb = (name: string) =>
      rounded(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024)
    return { rss: mb('Rss'), pss: mb('Pss') }
  } catch {
    return null
  }
}

const rounded = (mb: number) => Math.round(mb * 10) / 10
