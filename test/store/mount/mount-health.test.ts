// Health of mounts, with a probe that the test answers.
import t from 'tap'
import { NotResponding } from '../../../lib/base/errors.ts'
import { createHungFolders } from '../../../lib/store/mount/hung-folders.ts'
import { createMountHealth } from '../../../lib/store/mount/mount-health.ts'

// The timers of the tested module keep no process alive.
const alive = setInterval(() => {}, 1_000)
t.teardown(() => clearInterval(alive))

/** A disk that hangs until `respond`; probes and calls wait for it. */
function hangingDisk({ maxCallTicks = 30 } = {}) {
  let blocked: PromiseWithResolvers<void> | null = null
  let probes = 0
  const health = createMountHealth({
    tickMs: 5,
    slowMs: 10,
    hungTicks: 2,
    maxCallTicks,
    probe: async () => {
      probes += 1
      await blocked?.promise
    },
  })
  return {
    ...health,
    hang: () => {
      blocked = Promise.withResolvers<void>()
    },
    respond: () => {
      blocked?.resolve()
      blocked = null
    },
    use: async <T>(value: T): Promise<T> => {
      await blocked?.promise
      return value
    },
    countProbes: () => probes,
  }
}

/** Resolves at the next change of a folder. */
const nextChange = ({ listen }: ReturnType<typeof hangingDisk>) =>
  new Promise<{ root: string; seconds: number | null }>(resolve => {
    const listening = listen(change => {
      listening[Symbol.dispose]()
      resolve(change)
    })
  })

const tick = () => new Promise(resolve => setImmediate(resolve))

t.test('calls of a folder that hangs fail until it responds', async t => {
  const disk = hangingDisk()
  t.equal(await disk.run('/a', () => disk.use(1)), 1)
  disk.hang()
  const discarded: number[] = []
  const hung = nextChange(disk)
  const first = disk.run('/a', () => disk.use(2), { discard: value => discarded.push(value) })
  await t.rejects(first, NotResponding)
  t.match(await hung, { root: '/a', seconds: null })
  t.ok(disk.isHung('/a'))
  t.equal(disk.countHung(), 1)
  t.same(discarded, [], 'the call itself goes on')

  let isStarted = false
  const second = disk.run('/a', async () => {
    isStarted = true
  })
  await t.rejects(second, NotResponding)
  t.notOk(isStarted, 'the next one does not start')
  t.equal(await disk.run('/b', async () => 3), 3, 'other folders are used')

  const back = nextChange(disk)
  disk.respond()
  t.type((await back).seconds, 'number')
  t.same(discarded, [2], 'a late result is released')
  t.equal(await disk.run('/a', () => disk.use(4)), 4)
  t.equal(disk.countHung(), 0)
  t.ok(disk.hasHung())
})

t.test('long work on a folder that responds is not disturbed', async t => {
  const disk = hangingDisk()
  const work = Promise.withResolvers<string>()
  const running = disk.runThread('/a', () => work.promise)
  while (disk.countProbes() < 3) await tick()
  work.resolve('done')
  t.equal(await running, 'done')
  t.notOk(disk.hasHung())
})

t.test('work in threads is signalled, and a caller may leave', async t => {
  const disk = hangingDisk()
  disk.hang()
  let signal: AbortSignal | null = null
  const running = disk.runThread('/a', async hung => {
    signal = hung
    await disk.use(1)
  })
  const leaving = new AbortController()
  const left = disk.run('/a', () => disk.use(2), { signal: leaving.signal })
  leaving.abort()
  await t.rejects(left, { status: 503, message: 'Request was canceled' })
  await t.rejects(running, NotResponding)
  t.ok(signal!.aborted)
  disk.respond()
})

t.test('some calls of a folder run at the same time', async t => {
  const disk = hangingDisk()
  const end = Promise.withResolvers<void>()
  let running = 0
  const call = async () => {
    running += 1
    await end.promise
  }
  const calls = Array.from({ length: 40 }, () => disk.run('/a', call))
  const others = Array.from({ length: 3 }, () => disk.runThread('/a', call))
  await tick()
  t.equal(running, 16 + 3)
  end.resolve()
  await Promise.all([...calls, ...others])
  t.equal(running, 43)
})

t.test('a folder that hangs below a root that responds does not disturb the others', async t => {
  const disk = hangingDisk({ maxCallTicks: 6 })
  const hung = Promise.withResolvers<number>()
  const discarded: number[] = []
  const read = (folder: string, work: () => Promise<number>) =>
    disk.run('/a', work, { folder, discard: value => discarded.push(value) })
  const calls = Array.from({ length: 20 }, () => read('/a/hung', () => hung.promise))
  for (const call of calls) await t.rejects(call, NotResponding)
  t.notOk(disk.isHung('/a'))
  let isStarted = false
  const later = read('/a/hung', async () => {
    isStarted = true
    return 1
  })
  await t.rejects(later, NotResponding)
  t.notOk(isStarted, 'the next one does not start')
  t.equal(await read('/a/other', async () => 2), 2, 'the slots of those that hang are free')
  t.equal(await disk.run('/a', async () => 3), 3)

  hung.resolve(4)
  while (discarded.length < 16) await tick()
  t.equal(discarded.length, 16, 'those that had a slot')
  t.equal(await read('/a/hung', async () => 5), 5, 'it responds')
})

t.test('calls that waited behind those of a folder that hangs', async t => {
  const disk = hangingDisk({ maxCallTicks: 8 })
  const never = new Promise<number>(() => {})
  let started = 0
  const hang = () => {
    started += 1
    return never
  }
  const first = Array.from({ length: 16 }, () => disk.run('/a', hang, { folder: '/a/hung' }))
  const waiting = Array.from({ length: 16 }, () => disk.run('/a', hang, { folder: '/a/hung' }))
  const other = disk.run('/a', async () => 1, { folder: '/a/other' })
  for (const call of [...first, ...waiting]) await t.rejects(call, NotResponding)
  t.equal(started, 16, 'those of the same folder do not start')
  t.equal(await other, 1, 'those of others run')
  const slow = new Promise<number>(resolve => setTimeout(resolve, 20, 2))
  t.equal(await disk.run('/a', () => slow, { folder: '/a/other' }), 2)
})

t.test('a folder on a mount that was replaced is tried again', async t => {
  const folders = createHungFolders({ againMs: 20 })
  t.ok(folders.admits('/a'))
  t.ok(folders.add('/a'))
  t.notOk(folders.admits('/a'))
  await new Promise(resolve => setTimeout(resolve, 30))
  t.notOk(folders.isHung('/a'))
  t.ok(folders.admits('/a'), 'one call')
  t.notOk(folders.admits('/a'))
  t.ok(folders.delete('/a'), 'which returns')
  t.ok(folders.admits('/a'))
  folders.add('/a')
  let tries = 0
  for (let i = 0; i < 8; i++) {
    await new Promise(resolve => setTimeout(resolve, 25))
    if (folders.admits('/a')) tries += 1
  }
  t.equal(tries, 4, 'others would occupy a thread each')
})

t.test('calls that never return leave threads to other folders', async t => {
  const disk = hangingDisk({ maxCallTicks: 4 })
  const never = new Promise<number>(() => {})
  let started = 0
  const read = (folder: string) =>
    disk.run(
      '/a',
      () => {
        started += 1
        return never
      },
      { folder },
    )
  for (let i = 0; i < 6; i++) {
    const calls = Array.from({ length: 12 }, (_, n) => read(`/a/${i}/${n}`))
    for (const call of calls) await t.rejects(call, NotResponding)
  }
  t.ok(started >= 32 && started < 48, `${started} of 72 started`)
  t.equal(await disk.run('/b', async () => 6), 6)
})

t.test('the errors of a call are its own', async t => {
  const disk = hangingDisk()
  const failing = disk.run('/a', async () => {
    throw new TypeError('no')
  })
  await t.rejects(failing, TypeError)
  t.notOk(disk.hasHung())
})
