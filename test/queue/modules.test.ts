// Modules that the job queue loads: those of functions that are not used would take memory of every process.
import { spawnSync } from 'node:child_process'
import { test } from 'tap'
import { projectRoot } from '../kit/db.ts'

test('the job queue does not load the libraries of functions that are not used', async t => {
  const script = `import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    await import('./lib/queue/queue.ts')
    process.stdout.write(loaded.filter(u => /node_modules\\/(pg|luxon|cron-parser|rrule-temporal)\\//.test(u)).join())`
  const args = ['--input-type=module', '--eval', script]
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: projectRoot })
  t.strictSame({ status, loaded: String(stdout) }, { status: 0, loaded: '' })
})
