// Catalog check: runs all invariants and repairs violations. Checks are set-based statements or streams, so
// that a million books need no more memory than ten.
import type { Sql } from 'postgres'
import { pathText } from '../../lib/base/path.ts'
import { openDedicatedConnection } from '../../lib/store/postgres/db.ts'
import { queueExists } from '../../lib/store/queue/select-jobs.ts'
import { counterInvariants } from './counters.ts'
import { coverInvariants, selectedCoverInvariants } from './covers.ts'
import { duplicateInvariants } from './duplicates.ts'
import { groupingInvariants } from './groupings.ts'
import type { DoctorScope, Invariant } from './invariant.ts'
import { leftoverInvariants } from './leftovers.ts'
import { listInvariants } from './lists.ts'
import { readingInvariants } from './reading.ts'
import { releaseInvariants } from './releases.ts'
import { rowInvariants } from './rows.ts'
import { workInvariants } from './work.ts'

/** In check order: a repair may create work that a later one enqueues. */
export const invariants: Invariant[] = [
  ...rowInvariants,
  ...leftoverInvariants,
  ...counterInvariants,
  ...readingInvariants,
  ...listInvariants,
  ...groupingInvariants,
  ...duplicateInvariants,
  ...releaseInvariants,
  ...coverInvariants,
  ...selectedCoverInvariants,
  ...workInvariants,
]

export type Finding = {
  name: string
  description: string
  /** Number of violations. */
  count: number
  /** Up to five violations, as text. */
  samples: string[]
  /** Whether no violation was left after the repair; null if no repair was attempted. */
  isRepaired: boolean | null
}

export type DoctorReport = {
  findings: Finding[]
  /** Names of libraries skipped because they are being scanned. */
  busy: string[]
  /** Whether there were no violations, or all were repaired. */
  isHealthy: boolean
}

type DoctorOptions = Pick<DoctorScope, 'sql' | 'queue' | 'thumbnails'> & { repair?: boolean }

/**
 * Checks everything and, with `repair`, which requires a queue, repairs it. Prevents scans of the libraries
 * in the meantime.
 */
export async function checkCatalog({
  repair = false,
  ...options
}: DoctorOptions): Promise<DoctorReport> {
  const { sql } = options
  const connection = openDedicatedConnection(sql)
  try {
    const { libraries, busy } = await lockLibraries(connection.sql)
    const hasQueue = await queueExists(sql)
    const scope = { ...options, libraries, isQuiet: busy.length === 0, hasQueue }
    const findings: Finding[] = []
    for (const invariant of invariants)
      findings.push(await checkInvariant(invariant, scope, repair))
    const isHealthy = findings.every(({ count, isRepaired }) => count === 0 || isRepaired === true)
    return { findings, busy, isHealthy }
  } finally {
    // Releases its locks.
    await connection.close()
  }
}

async function checkInvariant(
  { name, description, check, repair }: Invariant,
  scope: DoctorScope,
  mayRepair: boolean,
): Promise<Finding> {
  const { count, samples } = await check(scope)
  const finding: Finding = { name, description, count, samples, isRepaired: null }
  if (count === 0 || !mayRepair || !repair) return finding
  await repair(scope)
  return { ...finding, isRepaired: (await check(scope)).count === 0 }
}

/** Takes the scan locks (pipeline/scan-job.ts); a library whose lock is already taken is busy. */
async function lockLibraries(connection: Sql) {
  const rows = await connection<{ id: string; name: string; root: Buffer; isFree: boolean }[]>`
    select id, name, root,
      pg_try_advisory_lock(hashtext('stackroom.scan'), hashtext(id::text)) as "isFree"
    from library
    where deleting_at is null
    order by id`
  return {
    libraries: rows.filter(row => row.isFree).map(row => row.id),
    busy: rows.filter(row => !row.isFree).map(row => `${row.name} (${pathText(row.root)})`),
  }
}
