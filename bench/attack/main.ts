// An attacker's walk against a server process, while /health/live is probed: worst cases of templates, conditions,
// patterns and lists, the largest bodies, and every operation of every root as callers with different rights.
// npm run bench -- attack [--series 600] [--attackers 4] [--values 3] [--only PATTERN]; fails above 500 ms and for every fault.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { permissionNames } from '../../lib/accounts/permission.ts'
import { loadConfig } from '../../lib/store/config/config.ts'
import { openDatabase } from '../../lib/store/postgres/db.ts'
import { migrate } from '../../lib/store/postgres/migrate.ts'
import { insertAccount, insertApiKey } from '../../test/kit/accounts.ts'
import { projectRoot } from '../../test/kit/db.ts'
import { createFixture } from '../../test/kit/fixture.ts'
import { changedRows, hiddenRows, hideInFixture, restrict } from '../../test/kit/http/hidden.ts'
import { enableKomga } from '../../test/kit/komga.ts'
import { type ServerProcess, startStackroom, stopProcess } from '../kit/server-process.ts'
import { print } from '../kit/stackroom.ts'
import { costPhases, insertSeries } from './costs.ts'
import { describe, type Fault, faultsOf } from './faults.ts'
import { startProbe } from './probe.ts'
import { type Attack, type Phase, send, sendAll } from './send.ts'
import { startSlowClients } from './slow.ts'
import { walk } from './walk.ts'

const maxPrinted = 200

const { values } = parseArgs({
  options: {
    series: { type: 'string', default: '600' },
    attackers: { type: 'string', default: '4' },
    values: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const limitMs = 500
const only = new RegExp(values.only)
const slowClients = 400
const environment = { STACKROOM_LOGGING__LEVEL: 'error' }
const faults: Fault[] = []
let longestMs = 0

if ([...costPhases('')].some(([name]) => only.test(name))) await attackCosts()
await attackEverything()
print({ longestHealthMs: Math.round(longestMs), limitMs, faults: faults.length })
if (longestMs > limitMs || faults.length > 0) process.exitCode = 1

/** Worst cases, on a library with long texts. */
async function attackCosts() {
  const folder = mkdtempSync(join(tmpdir(), 'stackroom-attack-'))
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    const config = loadConfig({ env: {}, flags: { data_dir: join(folder, 'data') } })
    const { sql, url, close } = await openDatabase(config)
    ends.unshift(close)
    await migrate(sql)
    const library = await insertSeries(sql, Number(values.series))
    const { id, key: admin } = await insertAccount(sql, 'admin')
    const keys: Record<string, string> = {
      admin,
      seriesRead: (await insertApiKey(sql, id, ['SeriesRead'])).key,
      nothing: (await insertApiKey(sql, id, [])).key,
    }
    for (let i = 0; i < 4; i++) keys[`importer ${i}`] = (await insertAccount(sql, 'admin')).key
    const flags = ['--data', config.data_dir, '--database-url', url, '--no-workers']
    const server = await startStackroom(flags, environment)
    ends.unshift(() => stopProcess(server.child))
    for (const phase of costPhases(library))
      await run(server, phase, async attack => {
        const credentials = { 'x-api-key': keys[attack.by]! }
        return (await send(server.base, credentials, attack)).status
      })
  } finally {
    for (const end of ends) await end()
  }
}

/** Every operation, on a small catalog of which half is hidden. */
async function attackEverything() {
  const ends: (() => unknown)[] = []
  const scope = { teardown: (end: () => unknown) => ends.unshift(end) }
  try {
    const fixture = await createFixture(scope, { libraryCount: 2 })
    await enableKomga(fixture.admin)
    const hidden = await hideInFixture(fixture)
    const callers = await createCallers(fixture)
    const { url, config } = fixture
    const flags = ['--data', config.data_dir, '--database-url', url, '--no-workers']
    const server = await startStackroom(flags, environment)
    ends.unshift(() => stopProcess(server.child))
    const folders = [projectRoot, config.data_dir, ...fixture.libraries.map(({ root }) => root)]
    let before = await hiddenRows(fixture.sql, hidden)
    const noteChanged = async (request: string, by: string) => {
      const after = await hiddenRows(fixture.sql, hidden)
      // Versions of lists are pruned meanwhile.
      const changed = changedRows(before, after).filter(row => !row.startsWith('list_change '))
      before = after
      note(changed.map(row => ({ fault: `changed ${row}`, by, request, status: 0, text: '' })))
    }
    for (const { name, credentials, isThorough, isRestricted } of callers) {
      if (!only.test(`everything as ${name}`)) continue
      const count = isThorough ? Number(values.values) : 1
      const attacks = walk({ fixture, hidden, caller: name, isRestricted, values: count })
      const endSlow = startSlowClients(server.base, credentials['x-api-key'] ?? '', slowClients)
      await run(server, [`everything as ${name}`, attacks], async attack => {
        const answer = await send(server.base, credentials, attack)
        const rules = { hidden: isRestricted ? hidden : null, folders }
        note(faultsOf(attack, answer, rules))
        const isWrite = attack.method !== 'GET' && answer.status < 300
        if (isRestricted && isWrite) await noteChanged(describe(attack), name)
        return answer.status
      })
      endSlow()
      if (isRestricted) await noteChanged('', name)
    }
  } finally {
    for (const end of ends) await end()
  }
}

type Caller = {
  name: string
  credentials: Record<string, string>
  isThorough: boolean
  isRestricted: boolean
}

/** Restricted accounts first: the last one may change what it finds. */
async function createCallers(fixture: Parameters<typeof restrict>[0]): Promise<Caller[]> {
  const { sql } = fixture
  const restricted = async (role: 'reader' | 'maintainer' | 'admin') => {
    const account = await insertAccount(sql, role)
    await restrict(fixture, account.id)
    return account
  }
  const caller = (name: string, key: string, isThorough: boolean, isRestricted = true): Caller => ({
    ...{ name, isThorough, isRestricted },
    credentials: { 'x-api-key': key },
  })
  const admin = await restricted('admin')
  const single = permissionNames.map(async name =>
    caller(`a key with ${name}`, (await insertApiKey(sql, admin.id, [name])).key, false),
  )
  return [
    { name: 'nobody', credentials: {}, isThorough: false, isRestricted: true },
    caller('a key without permissions', (await insertApiKey(sql, admin.id, [])).key, false),
    ...(await Promise.all(single)),
    caller('a restricted reader', (await restricted('reader')).key, true),
    caller('a restricted maintainer', (await restricted('maintainer')).key, true),
    caller('a restricted administrator', (await restricted('admin')).key, true),
    caller('an administrator', (await insertAccount(sql, 'admin')).key, true, false),
  ]
}

async function run(
  { base, child }: ServerProcess,
  [name, attacks]: Phase,
  sendOne: (attack: Attack) => Promise<number>,
) {
  if (!only.test(name)) return
  const probe = startProbe(base, child.pid!)
  const began = performance.now()
  const statuses = await sendAll(attacks, { attackers: Number(values.attackers), sendOne })
  const { wallMs, ownMs, count, failed } = await probe.stop()
  longestMs = Math.max(longestMs, failed > 0 ? Number.POSITIVE_INFINITY : ownMs)
  print({
    attack: name,
    requests: [...statuses.values()].reduce((sum, n) => sum + n, 0),
    statuses: Object.fromEntries([...statuses].sort()),
    seconds: Math.round((performance.now() - began) / 1000),
    ...{ probes: count, failedProbes: failed },
    longestHealthMs: Math.round(ownMs),
    withOtherPrograms: Math.round(wallMs),
  })
}

function note(found: readonly Fault[]) {
  for (const fault of found) {
    faults.push(fault)
    if (faults.length <= maxPrinted) print(fault)
  }
}
