// Crash test: kills scans, or PostgreSQL under a server, at random moments, changes the library between them,
// and counts losses:
//   node bench/kill.ts --library DIR --data DIR [--kills 20] [--seed 1]
//     [--target scan | postgres | external | disk] [--clients 20] [--readers 10]
// The library is changed for good, so give it a copy. One JSON line a kill, the verdict last.
// `postgres` kills the embedded server under `serve`, `external` restarts an external one under three API
// processes and two workers, `disk` fills and frees the data directory and each of its folders (as root).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createRandom } from '../test/kit/random.ts'
import { changeLibrary } from './kill/change.ts'
import { fillDisk } from './kill/disk.ts'
import { restartUnderFleet } from './kill/external.ts'
import { killPostgres } from './kill/postgres.ts'
import { type Followed, followBooks, judge } from './kill/truth.ts'
import { killUnderServe } from './kill/under-serve.ts'
import { print } from './kit/stackroom.ts'

const launcher = join(import.meta.dirname, '..', 'cmd', 'stackroom.mjs')
const earliestMs = 300

type Run = { code: number | null; ms: number; summary: Record<string, unknown> | null }

/** Half of the kills hit a catalog in the making, half one with readers whose library changes. */
export async function run(args = process.argv.slice(2)): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      library: { type: 'string' },
      data: { type: 'string' },
      kills: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      target: { type: 'string', default: 'scan' },
      clients: { type: 'string', default: '20' },
      readers: { type: 'string', default: '10' },
    },
  })
  if (!values.library || !values.data) throw new Error('--library and --data are needed')
  if (existsSync(values.data)) throw new Error(`${values.data} is there already`)
  const library = realpathSync(values.library)
  const data = resolve(values.data)
  const kills = Number(values.kills)
  const underLoad = { postgres: killUnderServe, external: restartUnderFleet, disk: fillDisk }[
    values.target
  ]
  if (underLoad) {
    const [clients, readers] = [Number(values.clients), Number(values.readers)]
    const options = { library, data, kills, seed: Number(values.seed), clients, readers }
    return await judgeUnderLoad(data, await underLoad(options))
  }
  const random = createRandom(Number(values.seed))
  const fullMs = await timeFullScan(library)
  print({ fullScanMs: Math.round(fullMs) })
  // How long a scan takes to its end, by mode, as last seen: a kill has to come before.
  const expected = { normal: fullMs, deep: fullMs }

  let followed: Followed[] = []
  let killed = 0
  let changes = 0
  let isDeep = false
  for (let round = 1; round <= kills; round++) {
    if (round === Math.floor(kills / 2) + 1) {
      await scan(library, data)
      followed = await followBooks(library, data, random)
    }
    if (round > 1 && random.next() < 0.7) changes += changeLibrary(library, followed, random)
    const mode = isDeep ? 'deep' : 'normal'
    const afterMs = Math.round(
      earliestMs + random.next() * Math.max(0, expected[mode] - earliestMs),
    )
    const done = await scan(library, data, { mode, killAfterMs: afterMs })
    const isKilled = done.code === null
    if (!isKilled) expected[mode] = done.ms
    const withPostgres = round % 5 === 0
    if (withPostgres) await killPostgres(data)
    if (isKilled) killed += 1
    print({ round, mode, afterMs, isKilled, withPostgres })
    // A scan that ended before its kill found too little to do.
    isDeep = !isKilled || (isDeep && random.next() < 0.5)
  }
  const verdict = await finish(library, data, followed)
  print({ kills, killed, changes, followed: followed.length, ...verdict })
  process.exitCode = verdict.problems.length > 0 ? 1 : 0
}

async function judgeUnderLoad(data: string, problems: string[]) {
  if (existsSync(join(data, 'postgres')))
    problems.push(...findingsOf(await stackroom(['doctor', '--data', data, '--json'])))
  print({ problems })
  process.exitCode = problems.length > 0 ? 1 : 0
}

async function finish(library: string, data: string, followed: Followed[]) {
  const last = await scan(library, data)
  const again = await scan(library, data)
  const doctor = await stackroom(['doctor', '--data', data, '--json'])
  const problems = await judge(library, data, followed)
  for (const [name, { code }] of Object.entries({ last, again })) {
    if (code !== 0 && code !== 1) problems.push(`the ${name} scan ended with ${code}`)
  }
  for (const key of ['new', 'changed', 'moved', 'missing', 'restored']) {
    if (again.summary?.[key] !== 0)
      problems.push(`a second scan reports ${key} ${again.summary?.[key]}`)
  }
  problems.push(...findingsOf(doctor))
  return {
    lastScan: last.summary,
    rescan: { ms: Math.round(again.ms), ...again.summary },
    problems,
  }
}

function findingsOf(doctor: Run): string[] {
  type Finding = { count: number; name: string; samples: string[] }
  const findings = (doctor.summary?.findings ?? []) as Finding[]
  const found = findings.filter(({ count }) => count > 0)
  return [
    ...(doctor.code === 0 ? [] : [`the doctor ended with ${doctor.code}`]),
    ...found.map(({ count, name, samples }) => `${name}: ${count}, as ${samples.join(', ')}`),
  ]
}

async function timeFullScan(library: string) {
  const data = mkdtempSync(join(tmpdir(), 'stackroom-kill-'))
  try {
    return (await scan(library, data)).ms
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

function scan(
  library: string,
  data: string,
  options: { mode?: string; killAfterMs?: number } = {},
) {
  const { mode = 'normal', killAfterMs } = options
  // What is deleted here is deleted on purpose.
  const args = ['scan', library, '--data', data, '--json', '--mode', mode, '--confirm-missing']
  return stackroom(args, killAfterMs)
}

/** Runs a command in a process group of its own: on an old Node the launcher has a child, and both must die. */
async function stackroom(args: string[], killAfterMs?: number): Promise<Run> {
  const started = performance.now()
  const child = spawn(process.execPath, [launcher, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let text = ''
  child.stdout.on('data', chunk => {
    text += chunk
  })
  const closed = once(child, 'close')
  if (killAfterMs !== undefined) {
    const late = new AbortController()
    await Promise.race([closed, sleep(killAfterMs, null, late).catch(() => {})])
    late.abort()
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
  }
  const [code] = await closed
  return { code, ms: performance.now() - started, summary: text ? JSON.parse(text) : null }
}

if (import.meta.main) await run()
