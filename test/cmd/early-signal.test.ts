// A signal to a server that is still starting its bundled database.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../kit/db.ts'
import { preparedDataDirectory } from '../kit/files/data-directory.ts'

const launcher = join(projectRoot, 'cmd', 'stackroom.mjs')

t.test('a database that was just started is stopped with the server', async t => {
  const data = await preparedDataDirectory(t)
  // Sent twice, as by a process group and the launcher.
  for (const signals of [['SIGTERM'], ['SIGINT', 'SIGINT']] as const) {
    const child = spawn(process.execPath, [launcher, 'serve', '--port', '0', '--data', data], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, STACKROOM_WEB__ENABLED: 'false' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'close')
    let output = ''
    child.stderr.on('data', chunk => {
      const hadStarted = output.includes('database started')
      output += chunk
      if (hadStarted || !output.includes('database started')) return
      for (const [i, signal] of signals.entries()) setTimeout(() => child.kill(signal), i * 20)
    })
    await ended
    t.match(output, /database stopped/, signals.join(' '))
    t.notMatch(output, /"level":[56]0/)
  }
})
