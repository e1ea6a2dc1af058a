// Space guard: shortages with random free spaces, refused writes, and the sentences about them.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openSpaceGuard, shortageMessage } from '../../lib/store/space-guard.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { waitUntil } from '../kit/processes.ts'
import { createRandom } from '../kit/random.ts'

const megabyte = 1024 * 1024
const areas = ['database', 'thumbnails', 'covers', 'cache'] as const

function open(dataDir: string, flags: object = {}, space?: (folder: string) => [number, number]) {
  const messages: string[] = []
  const log = {
    warn: (_details: object, message: string) => void messages.push(message),
    info: (_details: object, message: string) => void messages.push(message),
  }
  const config = loadConfig({ env: {}, flags: { data_dir: dataDir, ...flags } })
  const measure =
    space &&
    ((folder: string) => {
      const [freeMb, totalMb] = space(folder)
      const bytes = { freeBytes: freeMb * megabyte, totalBytes: totalMb * megabyte }
      // Every folder is a disk of its own.
      return { ...bytes, device: folder.length }
    })
  const guard = openSpaceGuard({ config, log: log as never, ...(measure ? { measure } : {}) })
  t.teardown(() => guard.close())
  return { guard, messages }
}

t.test('an area is short below the setting, or a third of a small disk', async t => {
  const random = createRandom(3)
  for (let round = 0; round < 200; round++) {
    const minimum = Math.floor(random.next() * 400)
    const spaces = new Map<string, [number, number]>()
    const { guard, messages } = open('/data', { 'files.min_free_mb': minimum }, folder => {
      const total = 10 + Math.floor(random.next() * 2_000)
      const known = spaces.get(folder) ?? [Math.floor(random.next() * total), total]
      spaces.set(folder, known)
      return known as [number, number]
    })
    const expected = areas.filter(area => {
      const folder = area === 'database' ? 'postgres' : area
      const [free, total] = spaces.get(`/data/${folder}`)!
      return free < Math.min(minimum, total / 3)
    })
    const found = areas.filter(area => guard.shortage([area]))
    t.same(found, expected, `round ${round}`)
    t.equal(messages.length, expected.length, 'one message for each disk')
    guard.close()
  }
})

t.test('the message names the folder and what is free', async t => {
  const { guard, messages } = open('/data', { 'files.min_free_mb': 100 }, () => [7, 1_000])
  t.match(
    messages[0],
    /^Only 7 MB are free in \/data\/postgres, less than the 100 MB that files\.min_free_mb requires. Work is paused until 110 MB are free$/,
  )
  t.match(shortageMessage(guard.shortage(['cache'])!), /\/data\/cache/)
  t.equal(guard.shortage([]), null)
})

t.test('an external database has no folder to check', async t => {
  const url = 'postgres://reader@localhost/books'
  const { guard } = open('/data', { 'database.url': url }, () => [0, 1_000])
  t.equal(guard.shortage(['database']), null)
  guard.reportFull('database')
  t.match(shortageMessage(guard.shortage(['database'])!), /^The disk of the database server/)
})

t.test(
  'a refused write makes an area short until a write succeeds',
  { timeout: 60_000 },
  async t => {
    const data = temporaryFolder(t)
    // A file in the place of the folder refuses every write, as a quota does.
    const folder = join(data, 'thumbnails')
    writeFileSync(folder, '')
    const { guard, messages } = open(data, { 'files.min_free_mb': 0 })
    t.equal(guard.shortage(), null)
    guard.reportFull('thumbnails')
    guard.reportFull('thumbnails')
    t.equal(guard.shortage()!.folder, folder)
    t.same(messages.length, 1)
    let hasWaited = false
    const waiting = guard
      .whenEnough(['thumbnails'], () => false)
      .then(() => {
        hasWaited = true
      })
    t.notOk(hasWaited)
    rmSync(folder)
    mkdirSync(folder)
    await waiting
    await waitUntil(() => messages.length === 2)
    t.match(messages, [/accepts no more files/, /enough space again/])
  },
)
