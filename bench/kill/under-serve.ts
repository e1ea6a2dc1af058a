// Crash test of the embedded PostgreSQL under `serve`: its first process, one backend or all processes are
// killed while readers, a scan and event streams go on.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPostmaster } from '../../lib/store/postgres/embedded/server.ts'
import { insertAccount } from '../../test/kit/accounts.ts'
import { freePort } from '../../test/kit/ports.ts'
import { createRandom } from '../../test/kit/random.ts'
import { listen } from '../fleet/listener.ts'
import { startStackroom, stopProcess } from '../kit/server-process.ts'
import { print } from '../kit/stackroom.ts'
import { changeLibrary } from './change.ts'
import { compareEvents, lastEvent } from './events.ts'
import { childrenOf, killPostgres } from './postgres.ts'
import { startReaders, timesOf } from './readers.ts'
import { createRequests } from './requests.ts'
import { type Followed, followable, judge, withDatabase } from './truth.ts'
import { startWriters } from './writers.ts'

export type Options = {
  library: string
  data: string
  kills: number
  seed: number
  clients: number
  readers: number
}

/** Returns sentences on what is wrong; none when nothing is. */
export async function killUnderServe(options: Options): Promise<string[]> {
  const library = realpathSync(options.library)
  const data = resolve(options.data)
  const random = createRandom(options.seed)
  const { child, base } = await startStackroom([
    ...['--data', data, '--port', String(await freePort())],
    ...['--log-level', 'warn'],
  ])
  // The database of a second process only for a moment: that one would restart it as well.
  const requests = createRequests()
  const { key, writers } = await withDatabase(data, async sql => ({
    key: (await insertAccount(sql, 'admin')).key,
    writers: await startWriters(requests, { bases: [base], library, random, sql }),
  }))
  const api = patientClient(base, key)
  const from = await withDatabase(data, lastEvent)
  const listeners = Array.from({ length: options.clients }, (_, i) => listen([base], key, i))
  await Promise.all(listeners.map(listener => listener.connected))
  const readers = startReaders(requests, [base], { key, count: options.readers, random })
  const { id } = await api('POST', '/libraries', { name: 'Kill', path: library })
  await api('POST', `/libraries/${id}/scan`)
  const times: number[] = []
  let followed: Followed[] = []
  for (let kill = 1; kill <= options.kills; kill++) {
    if (kill === Math.floor(options.kills / 2) + 1) {
      await untilScanned(base, key, id)
      followed = await withDatabase(data, sql => followable(sql, library))
      readers.follow(followed)
      writers.follow([...readers.followed.values()])
      print({ phase: 'a library that changes', books: followed.length })
    }
    if (followed.length > 0) {
      changeLibrary(library, [...readers.followed.values()], random)
      await api('POST', `/libraries/${id}/scan`, { mode: kill % 2 === 0 ? 'deep' : 'normal' })
    }
    await sleep(300 + random.next() * 2_500)
    const what = (['first process', 'a backend', 'all'] as const)[kill % 3]!
    const served = readers.untilServed(base)
    await killOne(data, what, random.next())
    times.push(await served)
    print({ kill, what, firstAnswerMs: Math.round(times.at(-1)!) })
  }
  await untilScanned(base, key, id)
  await api('POST', `/libraries/${id}/scan`)
  await untilScanned(base, key, id)
  await Promise.all([readers.end(), writers.end()])
  await sleep(3_000)
  const problems = await withDatabase(data, sql => writers.compare(sql))
  const events = await withDatabase(data, sql => compareEvents(sql, listeners, from))
  if (events.exactlyOnce < events.clients) problems.push('events lost or doubled')
  await Promise.all(listeners.map(listener => listener.close()))
  await stopProcess(child)
  for (const [problem, count] of requests.problems) problems.push(`${count} x ${problem}`)
  problems.push(...(await judge(library, data, readers.written())))
  const log = join(data, 'postgres.log')
  const deadlocks = existsSync(log)
    ? readFileSync(log, 'utf8').split('deadlock detected').length - 1
    : 0
  if (deadlocks > 0) problems.push(`${deadlocks} deadlocks`)
  const { statuses } = requests
  const written = writers.counts()
  print({ kills: options.kills, ...timesOf(times), statuses, written, events, deadlocks })
  return problems
}

/** Requests that are repeated while the server answers 503. */
export function patientClient(base: string, key: string) {
  return async (method: string, path: string, body?: unknown) => {
    for (;;) {
      const answer = await fetch(`${base}/api/v1${path}`, {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (answer.status !== 503) return (text ? JSON.parse(text) : null) as { id: string }
      await sleep(100)
    }
  }
}

async function killOne(data: string, what: 'first process' | 'a backend' | 'all', at: number) {
  if (what === 'all') return await killPostgres(data)
  const running = readPostmaster(join(data, 'postgres'))
  if (!running) return
  const children = childrenOf(running.pid)
  const victim = what === 'first process' ? running.pid : children[Math.floor(at * children.length)]
  if (victim) process.kill(victim, 'SIGKILL')
}

export async function untilScanned(base: string, key: string, libraryId: string) {
  for (;;) {
    await sleep(300)
    const headers = { 'x-api-key': key }
    const active = await fetch(`${base}/api/v1/tasks?libraryId=${libraryId}&pageSize=500`, {
      headers,
    })
    if (!active.ok) continue
    const { data } = (await active.json()) as { data: { status: string }[] }
    if (data.every(task => task.status !== 'pending' && task.status !== 'running')) return
  }
}
