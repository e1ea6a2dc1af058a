// Covers that users uploaded: what is shown against what was chosen, and the originals on disk.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Sql } from 'postgres'
import { broken, type Invariant, type Scope } from './invariant.ts'

const shown = 5
// An original is on disk a moment before its row says so.
const youngMs = 3_600_000
const half = /^[0-9a-f]{2}$/
const proper = /^([0-9a-f]{40})\.[a-z0-9]+$/
const owners = ['book', 'series'] as const

const misshown = ({ sql, libraries }: Scope) =>
  owners
    .map(
      owner => sql`
        select o.id, ${owner} || ' ' || o.id as note
        from ${sql(owner)} o
        left join cover c on c.${sql(`${owner}_id`)} = o.id and c.is_selected
        where o.library_id = any(${libraries}) and o.custom_cover is distinct from c.hash`,
    )
    .reduce((all, one) => sql`${all} union all ${one}`)

export const chosenInvariants: Invariant[] = [
  {
    name: 'chosen covers',
    sentence: 'What is shown of a book or series is the uploaded cover that was chosen.',
    look: broken(misshown),
    repair: async scope => {
      const { sql } = scope
      for (const owner of owners)
        await sql`
          update ${sql(owner)} o
          set custom_cover = (
            select hash from cover c where c.${sql(`${owner}_id`)} = o.id and c.is_selected)
          where o.id in (select id from (${misshown(scope)}) m)`
    },
  },
  {
    name: 'orphan originals',
    sentence: 'Every original older than an hour belongs to an uploaded cover.',
    async look(scope) {
      let count = 0
      const samples: string[] = []
      for await (const path of orphans(scope)) {
        count += 1
        if (samples.length < shown) samples.push(path)
      }
      return { count, samples }
    },
    async repair(scope) {
      for await (const path of orphans(scope)) rmSync(path, { force: true })
    },
  },
]

/** Old files of `ab/cd/` that no row names, a folder at a time; drafts that a kill left among them. */
async function* orphans({ sql, thumbnails }: Scope) {
  // Beside the thumbnails, as in lib/catalog/cover/cover-files.ts.
  const originals = join(dirname(thumbnails), 'covers')
  for (const one of namesIn(originals)) {
    for (const two of namesIn(join(originals, one))) {
      const folder = join(originals, one, two)
      const files = filesIn(folder).filter(file => isOld(join(folder, file)))
      const named = await namedOf(sql, files)
      for (const file of files) if (!named.has(file)) yield join(folder, file)
    }
  }
}

/** Those that are the original of a cover. */
async function namedOf(sql: Sql, files: string[]) {
  const names = files.flatMap(file => proper.exec(file)?.[1] ?? [])
  if (names.length === 0) return new Set<string>()
  const rows = await sql<{ file: string }[]>`
    select encode(hash, 'hex') || '.' || original as file from cover
    where hash = any(${names.map(name => `\\x${name}`)}::text[]::bytea[])`
  return new Set(rows.map(row => row.file))
}

const namesIn = (folder: string) => filesIn(folder).filter(name => half.test(name))

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    // Not there yet, or no folder.
    return []
  }
}

function isOld(path: string) {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs > youngMs
}
