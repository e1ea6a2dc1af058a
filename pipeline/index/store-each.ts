// Stores a batch; when the database refuses it for what is in it, book by book, so that one book that
// cannot be stored costs only itself.
import type { Sql } from 'postgres'
import { Conflict } from '../../lib/errors.ts'
import type { Queue } from '../../lib/queue/queue.ts'
import type { ScanContext } from '../scan/scan-context.ts'
import type { Match } from './match.ts'
import type { ReadError, Reading } from './reading.ts'
import { type Batch, store } from './store.ts'

/** What is wrong lies in the rows, and trying again would not help (PostgreSQL error classes). */
const refused = /^(22|42|54)/

const deadlock = '40P01'

const unstorable: ReadError = { code: 'internal', message: 'What the file says cannot be stored' }

/** `unread` is the reading of a file of which only name and folder are known. Throws what a later attempt may mend. */
export async function storeEach(
  { sql, queue, scan }: { sql: Sql; queue: Queue; scan: ScanContext },
  batch: Batch,
  unread: (id: string, error: ReadError) => Reading,
): Promise<void> {
  try {
    await storeInTurn(sql, queue, scan, batch)
  } catch (error) {
    const code = String((error as { code?: unknown }).code ?? '')
    if (error instanceof Conflict || !refused.test(code)) throw error
    const [first, ...others] = batch.matches
    if (!first) throw error
    if (others.length === 0)
      return await store(sql, queue, scan, { ...batch, matches: [plain(first, unread)] })
    for (const match of batch.matches) {
      await storeEach({ sql, queue, scan }, { matches: [match], bytesRead: 0, opens: 0 }, unread)
    }
  }
}

/** Two batches that move books between the same series can wait for each other; Postgres ends one, which begins anew. */
async function storeInTurn(sql: Sql, queue: Queue, scan: ScanContext, batch: Batch) {
  for (let left = 3; ; left--) {
    try {
      return await store(sql, queue, scan, batch)
    } catch (error) {
      if (left === 0 || (error as { code?: unknown }).code !== deadlock) throw error
    }
  }
}

function plain(match: Match, unread: (id: string, error: ReadError) => Reading): Match {
  return {
    ...match,
    reading: { ...unread(match.found.id, unstorable), fingerprint: match.reading.fingerprint },
  }
}
