// Invariants of thumbnails: files on disk and the rows that name them. Both sides are sorted by name, so one
// merge pass compares any number of them.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isFolderOf } from '../../lib/catalog/cover/local-artwork.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { coverFoldersIn, isOld, namesIn } from './cover-folders.ts'
import { type DoctorScope, type Invariant, maxSamples, type Violations } from './invariant.ts'

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
    check: scope =>
      countViolations(scope, add => ({
        onLost: async ({ owner, owners }) => add(`cover of ${owner}`, owners),
      })),
    repair: resetLost,
  },
  {
    name: 'orphan covers',
    description: 'Every thumbnail older than an hour belongs to a book or to an uploaded cover.',
    check: scope => countViolations(scope, add => ({ onOrphan: async ({ path }) => add(path) })),
    repair: deleteOrphans,
  },
]

async function countViolations(
  scope: DoctorScope,
  visitorOf: (add: (note: string, times?: number) => void) => Visitor,
): Promise<Violations> {
  const violations: Violations = { count: 0, samples: [] }
  const add = (note: string, times = 1) => {
    violations.count += times
    if (violations.samples.length < maxSamples) violations.samples.push(note)
  }
  await compare(scope, visitorOf(add))
  return violations
}

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
async function resetLost(scope: DoctorScope) {
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
