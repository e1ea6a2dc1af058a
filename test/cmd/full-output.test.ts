// Output to a full disk: a command fails with a message, a service keeps running.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createDatabase, projectRoot } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { freePort } from '../kit/ports.ts'
import { waitUntil } from '../kit/processes.ts'

const launcher = join(projectRoot, 'cmd', 'stackroom.mjs')
// The device exists on Linux only.
const skip = process.platform !== 'linux'

function fullDisk(t: Test) {
  const descriptor = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(descriptor))
  return descriptor
}

t.test('a command whose output is lost fails', { skip }, async t => {
  const child = spawn(process.execPath, [launcher, 'openapi'], {
    stdio: ['ignore', fullDisk(t), 'pipe'],
  })
  let stderr = ''
  child.stderr!.on('data', chunk => {
    stderr += chunk
  })
  t.equal((await once(child, 'close'))[0], 2)
  t.match(stderr, /^stackroom: .*ENOSPC.*\n$/)
})

t.test('a service whose log is lost keeps running', { skip }, async t => {
  const { url } = await createDatabase(t)
  const address = `127.0.0.1:${await freePort()}`
  const full = fullDisk(t)
  const data = join(temporaryFolder(t), 'data')
  const args = ['worker', '--data', data, '--database-url', url, '--log-level', 'trace']
  const child = spawn(process.execPath, [launcher, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, STACKROOM_METRICS__BIND: address },
    stdio: ['ignore', full, full],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await waitUntil(async () => {
    const response = await fetch(`http://${address}/health/ready`).catch(() => null)
    return response?.status === 200
  })
  child.kill('SIGTERM')
  t.equal((await once(child, 'close'))[0], 0)
})
