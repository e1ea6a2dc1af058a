// The cell that runs anywhere within a minute: this checkout with the oldest Node.js and the oldest PostgreSQL.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/kit/ports.ts'
import { startDatabase } from './databases.ts'
import { type Host, run, temporaryFolder } from './host.ts'
import { writeLibrary } from './library.ts'
import { unpackNode } from './node.ts'
import { createChecks } from './probe/checks.ts'
import { checkInstallation } from './probe/installation.ts'
import { type LaunchedProcess, launchProcess } from './processes.ts'
import type { Row } from './report.ts'

const root = join(import.meta.dirname, '..', '..')
const oldest = '22.18'

const postgres = '14'

/** Runs with the packages of this checkout; only Node.js and an external PostgreSQL come from the registry. */
export async function runQuickCell(host: Host, work: string): Promise<Row> {
  const began = performance.now()
  const checks = createChecks()
  const node = unpackNode(host, work, oldest)
  const folder = temporaryFolder(work)
  const library = join(folder, 'books')
  const data = join(folder, 'data')
  await writeLibrary(library)
  mkdirSync(data)
  const database = await startDatabase(host, work, postgres)
  const launched: LaunchedProcess[] = []
  let firstPageSeconds: number | null = null
  try {
    const port = await freePort()
    const installation = {
      base: `http://127.0.0.1:${port}`,
      library,
      where: ['--data', data, '--database-url', database.url],
      serve: ['--library', library, '--port', String(port)],
      launch(args: string[]) {
        const started = launchProcess(node, ['cmd/stackroom.mjs', ...args], {
          cwd: root,
          env: { PATH: process.env.PATH, HOME: folder },
        })
        launched.push(started)
        return started
      },
    }
    const started = performance.now()
    const { launch, where, serve } = installation
    await checkInstallation(checks, installation, launch(['serve', ...where, ...serve]), {
      onFirstPage: () => (firstPageSeconds = (performance.now() - started) / 1000),
    })
  } finally {
    for (const one of launched) await one.stop()
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    cell: `this machine, node ${oldest}, postgres ${postgres}`,
    node: run(node, ['--version']).trim(),
    npm: '–',
    ran: 'probe',
    passed: checks.passed(),
    failures: checks.failures,
    seconds: (performance.now() - began) / 1000,
    firstPageSeconds,
    downloadedMb: null,
    diskMb: null,
    warnings: [],
  }
}
