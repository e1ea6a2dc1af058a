// Thumbnails on disk against the books that name them. Both come in the order of their names, so one
// pass beside each other tells them apart, whatever their number.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import type { Invariant, Scope, Seen } from './invariant.ts'

type OnDisk = { name: string; path: string }
/** `books` is 0 for a cover that a user uploaded. */
type Named = { name: string; book: string | null; books: number }
type Visit = { lost?: (cover: Named) => Promise<void>; orphan?: (file: OnDisk) => Promise<void> }

const shown = 5
const batch = 5_000
// A cover is on disk a moment before its book says so.
const youngMs = 3_600_000
const half = /^[0-9a-f]{2}$/
const proper = /^([0-9a-f]{40})\.(?:webp|jpg)$/

export const coverInvariants: Invariant[] = [
  {
    name: 'cover files',
    sentence: 'The cover that a book names is on disk.',
    look: scope =>
      look(scope, add => ({ lost: async ({ book, books }) => add(`cover of ${book}`, books) })),
    repair: forgetLost,
  },
  {
    name: 'orphan covers',
    sentence: 'Every thumbnail older than an hour belongs to a book or to an uploaded cover.',
    look: scope => look(scope, add => ({ orphan: async ({ path }) => add(path) })),
    repair: deleteOrphans,
  },
]

async function look(
  scope: Scope,
  visitor: (add: (note: string, times?: number) => void) => Visit,
): Promise<Seen> {
  const seen: Seen = { count: 0, samples: [] }
  const add = (note: string, times = 1) => {
    seen.count += times
    if (seen.samples.length < shown) seen.samples.push(note)
  }
  await compare(scope, visitor(add))
  return seen
}

/** Walks both sides by name. */
async function compare({ sql, thumbnails }: Scope, { lost, orphan }: Visit) {
  const disk = filesOf(thumbnails)
  let file = disk.next()
  const upTo = async (name: string | null) => {
    while (!file.done && (name === null || file.value.name < name)) {
      if (orphan && isOld(file.value.path)) await orphan(file.value)
      file = disk.next()
    }
  }
  for await (const rows of namedCovers(sql)) {
    for (const cover of rows) {
      await upTo(cover.name)
      let there = false
      while (!file.done && file.value.name === cover.name) {
        there = true
        file = disk.next()
      }
      if (!there && cover.books > 0) await lost?.(cover)
    }
  }
  await upTo(null)
}

function namedCovers(sql: Sql) {
  return sql<Named[]>`
    select encode(cover, 'hex') as name, min(book) as book, count(book)::integer as books
    from (
      select cover, id::text as book from book where cover is not null
      union all select hash, null from cover) named
    group by cover
    order by cover`.cursor(2_000)
}

/** Every file below `ab/cd/`, by name; drafts that a kill left sort beside what they were to become. */
function* filesOf(folder: string): Generator<OnDisk> {
  for (const one of sorted(folder, half)) {
    for (const two of sorted(join(folder, one), half)) {
      for (const file of sorted(join(folder, one, two))) {
        const name = proper.exec(file)?.[1]
        const isHome = name?.startsWith(one + two)
        const path = join(folder, one, two, file)
        yield { name: isHome ? name! : `${one}${two}`, path }
      }
    }
  }
}

function sorted(folder: string, part?: RegExp): string[] {
  try {
    const names = readdirSync(folder).sort()
    return part ? names.filter(name => part.test(name)) : names
  } catch {
    // Not there yet, or no folder.
    return []
  }
}

function isOld(path: string) {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs > youngMs
}

/** The books forget the covers; the check of due covers comes later and has them made again. */
async function forgetLost(scope: Scope) {
  const names: string[] = []
  const forget = async () => {
    const covers = names.splice(0).map(name => `\\x${name}`)
    await scope.sql`
      update book set cover = null, cover_error = null
      where cover = any(${covers}::text[]::bytea[])`
  }
  await compare(scope, {
    lost: async ({ name }) => {
      names.push(name)
      if (names.length >= batch) await forget()
    },
  })
  if (names.length > 0) await forget()
}

async function deleteOrphans(scope: Scope) {
  let files: OnDisk[] = []
  const drop = async () => {
    const covers = files.filter(file => file.name.length === 40).map(file => `\\x${file.name}`)
    // A book may have come to name one since the comparison began.
    const rows = await scope.sql<{ name: string }[]>`
      select encode(cover, 'hex') as name from book where cover = any(${covers}::text[]::bytea[])
      union all
      select encode(hash, 'hex') from cover where hash = any(${covers}::text[]::bytea[])`
    const named = new Set(rows.map(row => row.name))
    for (const file of files) if (!named.has(file.name)) rmSync(file.path, { force: true })
    files = []
  }
  await compare(scope, {
    orphan: async file => {
      files.push(file)
      if (files.length >= batch) await drop()
    },
  })
  if (files.length > 0) await drop()
}
