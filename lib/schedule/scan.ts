// Scans that nobody asked for in person: by a schedule, or because the server starts.
import type { Sql, TransactionSql } from 'postgres'
import { enqueueScan, refuseWhileScanned, type ScanRequest } from '../catalog/scan/scan-request.ts'
import { Failure } from '../errors.ts'
import type { Queue } from '../queue/queue.ts'

/** `butWatching`: also beside a scan that watching asked for. */
type Unasked = ScanRequest & { butWatching?: boolean }

/** Enqueues a scan unless one of the library waits or runs, or the library is being removed. */
export async function scanUnlessBusy(
  tx: TransactionSql,
  queue: Queue,
  { butWatching = false, ...request }: Unasked,
) {
  try {
    await refuseWhileScanned(tx, request.libraryId, { butWatching })
    await enqueueScan(tx, queue, request)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
}

/** Scans the libraries that are to be scanned when the server starts. */
export async function scanOnStart(sql: Sql, queue: Queue): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select id from library
    where is_active and deleting_at is null and scanning_config->>'scanOnStart' = 'true'
    order by id`
  for (const { id } of rows)
    await sql.begin(tx => scanUnlessBusy(tx, queue, { libraryId: id, mode: 'normal' }))
}
