// Invariants of uploaded covers: which one is displayed, and their original files.
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { unionAll } from '../../lib/store/postgres/statement.ts'
import { coverFoldersIn, isOld, namesIn } from './cover-folders.ts'
import { type DoctorScope, type Invariant, maxSamples, violationQuery } from './invariant.ts'

const originalFileName = /^([0-9a-f]{40})\.[a-z0-9]+$/
const owners = ['book', 'series'] as const

const wrongSelections = ({ sql, libraries }: DoctorScope) =>
  unionAll(
    sql,
    owners.map(
      owner => sql`
        select o.id, ${owner} || ' ' || o.id as note
        from ${sql(owner)} o
        left join cover c on c.${sql(`${owner}_id`)} = o.id and c.is_selected
        where o.library_id = any(${libraries}) and o.custom_cover is distinct from c.hash`,
    ),
  ) as ReturnType<Parameters<typeof violationQuery>[0]>

export const selectedCoverInvariants: Invariant[] = [
  {
    name: 'selected covers',
    description: 'A book or series displays its selected uploaded cover.',
    check: violationQuery(wrongSelections),
    repair: async scope => {
      const { sql } = scope
      for (const owner of owners)
        await sql`
          update ${sql(owner)} o
          set custom_cover = (
            select hash from cover c where c.${sql(`${owner}_id`)} = o.id and c.is_selected)
          where o.id in (select id from (${wrongSelections(scope)}) m)`
    },
  },
  {
    name: 'orphan originals',
    description: 'Every original older than an hour belongs to an uploaded cover.',
    async check(scope) {
      let count = 0
      const samples: string[] = []
      for await (const path of orphanOriginals(scope)) {
        count += 1
        if (samples.length < maxSamples) samples.push(path)
      }
      return { count, samples }
    },
    async repair(scope) {
      for await (const path of orphanOriginals(scope)) rmSync(path, { force: true })
    },
  },
]

/**
 * Old files in `abc/` that no row refers to, including drafts left by a crash. Lists one folder at a time.
 */
async function* orphanOriginals({ sql, thumbnails }: DoctorScope) {
  // Next to the thumbnails, as in lib/catalog/cover/cover-files.ts.
  const originals = join(dirname(thumbnails), 'covers')
  for (const prefix of coverFoldersIn(originals)) {
    const folder = join(originals, prefix)
    const files = namesIn(folder).filter(file => isOld(join(folder, file)))
    const named = await namedOriginals(sql, files)
    for (const file of files) if (!named.has(file)) yield join(folder, file)
  }
}

/** Filters the files to those that are the original of a cover. */
async function namedOriginals(sql: Sql, files: string[]): Promise<Set<string>> {
  const names = files.flatMap(file => originalFileName.exec(file)?.[1] ?? [])
  if (names.length === 0) return new Set()
  const rows = await sql<{ file: string }[]>`
    select encode(hash, 'hex') || '.' || original as file from cover
    where hash = any(${names.map(name => `\\x${name}`)}::text[]::bytea[])`
  return new Set(rows.map(row => row.file))
}
