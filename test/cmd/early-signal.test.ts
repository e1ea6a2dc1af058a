// A signal to a server that is still starting its bundled database.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'

const launcher = join(projectRoot, 'cmd', 'stackroom.mjs')

t.test('a database that was just started is stopped with the server', async t => {
  const data = join(temporaryFolder(t), 'data')
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = spawn(process.execPath, [launcher, 'serve', '--port', '0', '--data', data], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'close')
    let output = ''
    child.stderr.on('data', chunk => {
      const hadStarted = output.includes('database started')
      output += chunk
      if (!hadStarted && output.includes('database started')) child.kill(signal)
    })
    await ended
    t.match(output, /database stopped/, signal)
    t.notMatch(output, /"level":[56]0/)
  }
})
