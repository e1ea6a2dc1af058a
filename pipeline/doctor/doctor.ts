// Checks what must always hold in the catalogue, and mends it. Every invariant is one file's value;
// each looks with set-based statements or streams, so that a million books need no more memory than ten.
import type { ReservedSql } from 'postgres'
import { pathText } from '../../lib/path.ts'
import { counterInvariants } from './counters.ts'
import { coverInvariants } from './covers.ts'
import { duplicateInvariants } from './duplicates.ts'
import type { Invariant, Scope } from './invariant.ts'
import { leftoverInvariants } from './leftovers.ts'
import { listInvariants } from './lists.ts'
import { rowInvariants } from './rows.ts'
import { chosenInvariants } from './selected-covers.ts'
import { workInvariants } from './work.ts'

/** In the order they are checked: a repair may make work that a later one enqueues. */
export const invariants: Invariant[] = [
  ...rowInvariants,
  ...leftoverInvariants,
  ...counterInvariants,
  ...listInvariants,
  ...duplicateInvariants,
  ...coverInvariants,
  ...chosenInvariants,
  ...workInvariants,
]

export type Finding = {
  name: string
  sentence: string
  /** How often it is broken. */
  count: number
  /** Up to five of them, in words. */
  samples: string[]
  /** Whether nothing was left after the repair; null when none was tried. */
  mended: boolean | null
}

export type Diagnosis = {
  findings: Finding[]
  /** Names of the libraries that were left out because they are being scanned. */
  busy: string[]
  /** Nothing is wrong, or everything was mended. */
  isWell: boolean
}

type Examination = Omit<Scope, 'libraries' | 'isQuiet' | 'hasQueue'> & { repair?: boolean }

/** Looks at everything, and mends it with `repair`, which needs a queue. No scan of a library begins meanwhile. */
export async function examine({ repair = false, ...given }: Examination): Promise<Diagnosis> {
  const { sql } = given
  const held = await sql.reserve()
  try {
    const { libraries, busy } = await holdLibraries(held)
    const [row] = await sql`select to_regclass('pgboss.job') is not null as "hasQueue"`
    const scope = { ...given, libraries, isQuiet: busy.length === 0, hasQueue: row!.hasQueue }
    const findings: Finding[] = []
    for (const invariant of invariants) findings.push(await check(invariant, scope, repair))
    return { findings, busy, isWell: findings.every(f => f.count === 0 || f.mended === true) }
  } finally {
    await held`select pg_advisory_unlock_all()`
    held.release()
  }
}

async function check({ name, sentence, look, repair }: Invariant, scope: Scope, mend: boolean) {
  const { count, samples } = await look(scope)
  const finding: Finding = { name, sentence, count, samples, mended: null }
  if (count === 0 || !mend || !repair) return finding
  await repair(scope)
  return { ...finding, mended: (await look(scope)).count === 0 }
}

/** Takes the locks that scans take (pipeline/scan.ts); who has one already is busy. */
async function holdLibraries(held: ReservedSql) {
  const rows = await held<{ id: string; name: string; root: Buffer; free: boolean }[]>`
    select id, name, root,
      pg_try_advisory_lock(hashtext('stackroom.scan'), hashtext(id::text)) as free
    from library
    where deleting_at is null
    order by id`
  return {
    libraries: rows.filter(row => row.free).map(row => row.id),
    busy: rows.filter(row => !row.free).map(row => `${row.name} (${pathText(row.root)})`),
  }
}
