// Restarts of an external PostgreSQL, fast and immediate, under three API processes and two workers.
import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../lib/store/postgres/db.ts'
import { startPostgres } from '../../lib/store/postgres/embedded/embedded.ts'
import { isServer, readPostmaster } from '../../lib/store/postgres/embedded/server.ts'
import { migrate } from '../../lib/store/postgres/migrate.ts'
import { insertAccount } from '../../test/kit/accounts.ts'
import { createRandom } from '../../test/kit/random.ts'
import { listen } from '../fleet/listener.ts'
import { member } from '../fleet/server.ts'
import { print } from '../kit/stackroom.ts'
import { changeLibrary } from './change.ts'
import { compareEvents, lastEvent } from './events.ts'
import { startReaders, timesOf } from './readers.ts'
import { createRequests } from './requests.ts'
import { followable, judge } from './truth.ts'
import { type Options, patientClient, untilScanned } from './under-serve.ts'
import { startWriters } from './writers.ts'

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

/** Returns sentences on what is wrong; none when nothing is. */
export async function restartUnderFleet(options: Options): Promise<string[]> {
  const library = realpathSync(options.library)
  const data = resolve(options.data)
  const random = createRandom(options.seed)
  const server = await startPostgres({ dataDir: data })
  // From now on it is external: no process watches it.
  await server.leave()
  const sql = connect(server.url, { max: 4 })
  await migrate(sql)
  const { key } = await insertAccount(sql, 'admin')
  const args = ['--data', data, '--database-url', server.url]
  const servers = await Promise.all([1, 2, 3].map(() => member('serve', args)))
  const workers = await Promise.all([1, 2].map(() => member('worker', args)))
  for (const one of [...servers, ...workers]) one.start()
  await Promise.all(servers.map(one => one.waitUntilReady()))
  const bases = servers.map(one => one.base)
  const api = patientClient(bases[0]!, key)
  const from = await lastEvent(sql)
  const listeners = Array.from({ length: options.clients }, (_, i) => listen(bases, key, i))
  await Promise.all(listeners.map(listener => listener.connected))
  const requests = createRequests()
  const readers = startReaders(requests, bases, { key, count: options.readers, random })
  const writers = await startWriters(requests, { bases, library, random, sql })
  const { id } = await api('POST', '/libraries', { name: 'Kill', path: library })
  await api('POST', `/libraries/${id}/scan`)
  const times: number[] = []
  for (let round = 1; round <= options.kills; round++) {
    if (round === Math.floor(options.kills / 2) + 1) {
      await untilScanned(bases[0]!, key, id)
      readers.follow(await followable(sql, library))
      writers.follow([...readers.followed.values()])
    }
    if (readers.followed.size > 0) {
      changeLibrary(library, [...readers.followed.values()], random)
      await api('POST', `/libraries/${id}/scan`, { mode: round % 2 === 0 ? 'deep' : 'normal' })
    }
    await sleep(300 + random.next() * 2_500)
    const mode = round % 2 === 0 ? 'fast' : 'immediate'
    const stopped = performance.now()
    const served = Promise.all(bases.map(base => readers.untilServed(base)))
    await restart(data, signals[mode], random.next() * 1_000)
    const startedMs = performance.now() - stopped
    // What counts is the time after the server accepts connections again.
    const worst = Math.max(...(await served)) - startedMs
    times.push(Math.max(1, worst))
    print({ round, mode, downMs: Math.round(startedMs), firstAnswerMs: Math.round(worst) })
  }
  await untilScanned(bases[0]!, key, id)
  await api('POST', `/libraries/${id}/scan`)
  await untilScanned(bases[0]!, key, id)
  await Promise.all([readers.end(), writers.end()])
  await sleep(3_000)
  const problems = [...requests.problems].map(([problem, count]) => `${count} x ${problem}`)
  problems.push(...(await writers.compare(sql)))
  const events = await compareEvents(sql, listeners, from)
  if (events.exactlyOnce < events.clients) problems.push('events lost or doubled')
  await Promise.all(listeners.map(listener => listener.close()))
  const codes: (number | null)[] = []
  for (const one of [...workers, ...servers]) codes.push(await one.end('SIGTERM'))
  if (codes.some(code => code !== 0)) problems.push(`exit codes ${codes.join(', ')}`)
  await sql.end({ timeout: 1 })
  problems.push(...(await judge(library, data, readers.written())))
  const report = { statuses: requests.statuses, written: writers.counts() }
  print({ restarts: options.kills, ...timesOf(times), ...report, events })
  return problems
}

async function restart(data: string, signal: NodeJS.Signals, pauseMs: number) {
  const cluster = join(data, 'postgres')
  const { pid } = readPostmaster(cluster)!
  process.kill(pid, signal)
  while (isServer(pid, cluster)) await sleep(20)
  await sleep(pauseMs)
  await (await startPostgres({ dataDir: data })).leave()
}
