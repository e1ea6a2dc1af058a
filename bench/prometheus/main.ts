// Dashboard and alert rules checked by a real Prometheus: a server with a small library is scraped under
// some load, and every query of both must parse and find something. Needs `prometheus` and `promtool`.
// npm run bench -- prometheus [--seconds 30]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { comic } from '../../test/kit/library.ts'
import { print } from '../kit/stackroom.ts'
import { openProcesses } from './processes.ts'
import { alertQueries, dashboardQueries, type Query } from './queries.ts'
import { useServer } from './usage.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } })
const folder = mkdtempSync(join(tmpdir(), 'stackroom-prometheus-'))
const rules = join(import.meta.dirname, '..', '..', 'deploy', 'monitoring', 'alerts.yml')

/** Queries of which nothing is right, and why. */
const empty: Record<string, string> = {
  library_scan_braked: 'no scan was braked',
  'status="5xx"': 'no request failed',
}

const processes = openProcesses(folder)
try {
  const library = join(folder, 'library')
  for (const series of ['Alpha', 'Beta', 'Gamma']) {
    mkdirSync(join(library, series), { recursive: true })
    for (let number = 1; number <= 8; number++)
      writeFileSync(join(library, series, `${number}.cbz`), comic({ pages: 3, padding: number }))
  }
  writeFileSync(join(library, 'Alpha', 'broken.cbz'), 'this is no archive')
  const server = await processes.stackroom()
  const prometheus = await processes.prometheus({ target: server.metrics, rules })
  const end = performance.now() + Number(values.seconds) * 1000
  await useServer({ ...server, library, until: end })
  await sleep(3_000)
  const failures = [
    ...check('rules', [...promtool(['check', 'rules', rules])]),
    ...check('metrics', await scrapeFaults(server.metrics)),
    ...(await judge(prometheus, dashboardQueries())),
    ...(await judge(prometheus, alertQueries(rules))),
    ...(await unhealthyRules(prometheus)),
  ]
  for (const failure of failures) print({ failure })
  if (failures.length > 0) process.exitCode = 1
} finally {
  await processes.end()
  rmSync(folder, { recursive: true, force: true })
}

function promtool(args: string[], input?: string): string[] {
  const ran = spawnSync('promtool', args, { encoding: 'utf8', ...(input ? { input } : {}) })
  // `check metrics` ends with 3 for what it would have named otherwise.
  return ran.status === 0 ? [] : `${ran.stdout}${ran.stderr}`.trim().split('\n')
}

async function scrapeFaults(address: string) {
  const text = await (await fetch(`http://${address}/metrics`)).text()
  const series = text.split('\n').filter(line => line !== '' && !line.startsWith('#')).length
  print({ series, bytes: text.length })
  return promtool(['check', 'metrics'], text)
}

function check(what: string, faults: string[]) {
  print({ promtool: what, faults: faults.length })
  return faults
}

async function judge(url: string, queries: Query[]): Promise<string[]> {
  const failures: string[] = []
  const without: string[] = []
  for (const { where, text } of queries) {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(text)}`)
    const { status, data, error } = (await response.json()) as QueryResponse
    const excuse = Object.keys(empty).find(part => text.includes(part))
    if (status !== 'success') failures.push(`${where}: ${error}: ${text}`)
    else if (data.result.length === 0 && excuse) without.push(`${where}: ${empty[excuse]}`)
    else if (data.result.length === 0) failures.push(`${where}: finds nothing: ${text}`)
  }
  print({ queries: queries.length, failed: failures.length, rightlyEmpty: without })
  return failures
}

type QueryResponse = { status: string; error?: string; data: { result: unknown[] } }

async function unhealthyRules(url: string): Promise<string[]> {
  const answer = (await (await fetch(`${url}/api/v1/rules`)).json()) as {
    data: { groups: { rules: { name: string; health: string; state: string }[] }[] }
  }
  const all = answer.data.groups.flatMap(group => group.rules)
  print({
    rules: all.length,
    alarmed: all.filter(rule => rule.state !== 'inactive').map(rule => rule.name),
  })
  return all.filter(rule => rule.health !== 'ok').map(rule => `${rule.name}: ${rule.health}`)
}
