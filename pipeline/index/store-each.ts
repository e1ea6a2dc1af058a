// Stores a batch or, if the database rejects its data, each book separately, so that a book that cannot be
// stored does not affect the others.
import { Conflict } from '../../lib/base/errors.ts'
import type { Match } from './match.ts'
import type { ReadError, Reading } from './reading.ts'
import { type Batch, type StoreDeps, storeBatch } from './store.ts'

/** PostgreSQL error classes for invalid data, where a retry would not help. */
const invalidData = /^(22|42|54)/

const unstorable: ReadError = {
  code: 'internal',
  message: 'The metadata of the file cannot be stored',
}

/**
 * `failedReading` returns the reading of a file without its content. Throws errors that a retry may resolve.
 */
export async function storeEach(
  deps: StoreDeps,
  batch: Batch,
  failedReading: (fileId: string, error: ReadError) => Promise<Reading>,
): Promise<void> {
  try {
    return await storeBatch(deps, batch)
  } catch (error) {
    const code = String((error as { code?: unknown }).code ?? '')
    if (error instanceof Conflict || !invalidData.test(code)) throw error
    const [first, ...others] = batch.matches
    if (!first) throw error
    if (others.length === 0)
      return await storeBatch(deps, {
        ...batch,
        matches: [await withoutContent(first, failedReading)],
      })
    for (const match of batch.matches)
      await storeEach(deps, { matches: [match], bytesRead: 0, opens: 0 }, failedReading)
  }
}

async function withoutContent(
  match: Match,
  failedReading: (fileId: string, error: ReadError) => Promise<Reading>,
): Promise<Match> {
  const reading = await failedReading(match.file.id, unstorable)
  return { ...match, reading: { ...reading, fingerprint: match.reading.fingerprint } }
}
