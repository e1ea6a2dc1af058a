// Invariants of thumbnails: files on disk and the rows that name them. Both sides are sorted by name, so one
// merge pass compares any number of them.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isFolderOf } from '../../lib/catalog/cover/local-artwork.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { unionAll } from '../../lib/store/postgres/statement.ts'
import { createViolations, type DoctorScope, type Invariant, violationQuery } from './invariant.ts'

type CoverFile = { name: string; path: string }
/** `owners` is 0 for a cover uploaded by a user. */
type CoverRow = { name: string; owner: string | null; owners: number }
type Visitor = {
  /** Called for a cover that books or series refer to but that has no file. */
  onLost?: (cover: CoverRow) => Promise<void>
  /** Called for a file that no row refers to. */
  onOrphan?: (file: CoverFile) => Promise<void>
}

const batch = 5_000
const coverFileName = /^([0-9a-f]{40})\.(?:webp|jpg)$/

export const coverInvariants: Invariant[] = [
  {
    name: 'cover files',
    description: 'The cover of every book, and of every series folder, exists on disk.',
    async check(scope) {
      const { violations, add } = createViolations()
      const onLost = async ({ owner, owners }: CoverRow) => add(`cover of ${owner}`, owners)
      await compare(scope, { onLost })
      return violations
    },
    repair: resetLostCovers,
  },
  {
    name: 'orphan covers',
    description: 'Every thumbnail older than an hour belongs to a book or to an uploaded cover.',
    async check(scope) {
      const { violations, add } = createViolations()
      await compare(scope, { onOrphan: async ({ path }) => add(path) })
      return violations
    },
    repair: deleteOrphans,
  },
]

/** Merges files and rows by name. */
async function compare({ sql, thumbnails }: DoctorScope, { onLost, onOrphan }: Visitor) {
  const files = coverFiles(thumbnails)
  let file = files.next()
  const skipTo = async (name: string | null) => {
    while (!file.done && (name === null || file.value.name < name)) {
      if (onOrphan && isOld(file.value.path)) await onOrphan(file.value)
      file = files.next()
    }
  }
  for await (const rows of coverRows(sql)) {
    for (const cover of rows) {
      await skipTo(cover.name)
      let exists = false
      while (!file.done && file.value.name === cover.name) {
        exists = true
        file = files.next()
      }
      if (!exists && cover.owners > 0) await onLost?.(cover)
    }
  }
  await skipTo(null)
}

function coverRows(sql: Sql) {
  return sql<CoverRow[]>`
    select encode(cover, 'hex') as name, min(owner) as owner, count(owner)::integer as owners
    from (
      select cover, book_id::text as owner from book_artifact where cover is not null
      union all select artwork_cover, id::text from series where artwork_cover is not null
      union all select hash, null from cover) named
    group by cover
    order by cover`.cursor(2_000)
}

/** Every file in `abc/`, by name; drafts left by a crash sort next to the file they were for. */
function* coverFiles(folder: string): Generator<CoverFile> {
  for (const prefix of coverFoldersIn(folder)) {
    for (const file of namesIn(join(folder, prefix))) {
      const name = coverFileName.exec(file)?.[1]
      const path = join(folder, prefix, file)
      yield { name: name?.startsWith(prefix) ? name : prefix, path }
    }
  }
}

/**
 * Resets the covers; the later check of due covers has book covers generated again, the next scan series
 * covers.
 */
export async function resetLostCovers(scope: DoctorScope) {
  const names: string[] = []
  const reset = async () => {
    const covers = names.splice(0).map(name => `\\x${name}`)
    await scope.sql`
      update book_artifact set cover = null, cover_error = null
      where cover = any(${covers}::text[]::bytea[])`
    await scope.sql`
      with lost as (
        update series set artwork = null, artwork_cover = null
        where artwork_cover = any(${covers}::text[]::bytea[])
        returning library_id, folder
      )
      update directory d set artwork_due = true
      from lost s
      where d.library_id = s.library_id and ${isFolderOf(scope.sql)}`
  }
  await compare(scope, {
    async onLost({ name }) {
      names.push(name)
      if (names.length >= batch) await reset()
    },
  })
  if (names.length > 0) await reset()
}

async function deleteOrphans(scope: DoctorScope) {
  let files: CoverFile[] = []
  const deleteBatch = async () => {
    const covers = files.filter(file => file.name.length === 40).map(file => `\\x${file.name}`)
    // A book may have started to use one since the comparison began.
    const rows = await scope.sql<{ name: string }[]>`
      select encode(cover, 'hex') as name from book_artifact where cover = any(${covers}::text[]::bytea[])
      union all
      select encode(artwork_cover, 'hex') from series
      where artwork_cover = any(${covers}::text[]::bytea[])
      union all
      select encode(hash, 'hex') from cover where hash = any(${covers}::text[]::bytea[])`
    const named = new Set(rows.map(row => row.name))
    for (const file of files) if (!named.has(file.name)) rmSync(file.path, { force: true })
    files = []
  }
  await compare(scope, {
    async onOrphan(file) {
      files.push(file)
      if (files.length >= batch) await deleteBatch()
    },
  })
  if (files.length > 0) await deleteBatch()
}

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
      const { violations, add } = createViolations()
      for await (const path of orphanOriginals(scope)) add(path)
      return violations
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

/** A file exists briefly before its row does. */
const minOrphanAgeMs = 3_600_000
const coverFolderName = /^[0-9a-f]{3}$/

/** Names in a folder, sorted; none if it does not exist or is not a folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** Subfolders named by three hex digits, sorted. */
const coverFoldersIn = (folder: string): string[] =>
  namesIn(folder).filter(name => coverFolderName.test(name))

/** True for a file that is old enough to be an orphan. */
function isOld(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs > minOrphanAgeMs
}
