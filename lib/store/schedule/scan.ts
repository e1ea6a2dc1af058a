// Unattended scans: by a schedule, or when the server starts.

import { Failure } from '../../base/errors.ts'
import {
  assertNotScanning,
  enqueueScan,
  type ScanRequest,
} from '../../catalog/scan/scan-request.ts'
import type { Sql, Transaction } from '../postgres/db.ts'
import type { Queue } from '../queue/queue.ts'

/** `ignoreWatchScans`: even while a scan requested by folder watching is active. */
type UnattendedScan = ScanRequest & { ignoreWatchScans?: boolean }

/** Enqueues a scan unless the library has one queued or running, or is being removed. */
export async function enqueueScanUnlessBusy(
  tx: Transaction,
  queue: Queue,
  { ignoreWatchScans = false, ...request }: UnattendedScan,
) {
  try {
    await assertNotScanning(tx, request.libraryId, { ignoreWatchScans })
    await enqueueScan(tx, queue, request)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
}

/** Enqueues scans of the libraries that are configured to be scanned when the server starts. */
export async function scanOnStart(sql: Sql, queue: Queue): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select id from library
    where is_active and deleting_at is null and scanning_config->>'scanOnStart' = 'true'
    order by id`
  for (const { id } of rows)
    await sql.begin(tx => enqueueScanUnlessBusy(tx, queue, { libraryId: id, mode: 'normal' }))
}
