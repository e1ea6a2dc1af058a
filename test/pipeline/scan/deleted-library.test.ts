// A library that is deleted while it is scanned.
import t from 'tap'
import { requestScan } from '../../../lib/catalog/scan/scan-request.ts'
import { finalizeMissing } from '../../../pipeline/finalize/missing.ts'
import { librarySettings, loadScan } from '../../../pipeline/scan/scan-context.ts'
import { openCatalog } from '../../kit/catalog.ts'
import { createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql, pipeline } = all

t.test('a scan that outlives its library ends without an error', async t => {
  const lib = await createTestLibrary(t, all)
  await lib.scan()
  const scanId = await requestScan(sql, pipeline.queue, { libraryId: lib.id, mode: 'normal' })
  const scan = await loadScan(sql, scanId)
  await sql`delete from library where id = ${lib.id}`
  t.equal(await loadScan(sql, scanId), null)
  t.equal(await librarySettings(sql, lib.id), null)
  t.equal(await finalizeMissing(sql, scan!, 25), null)
})
