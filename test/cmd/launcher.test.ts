// Launcher on a Node without execve(): signals to the whole process group, npm, a closed terminal.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createDatabase } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { waitUntil } from '../kit/processes.ts'

const root = join(import.meta.dirname, '..', '..')
const npm = { npm_lifecycle_event: 'start', npm_package_json: join(root, 'package.json') }
const basicEnv = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  TMPDIR: process.env.TMPDIR,
  STACKROOM_WEB__ENABLED: 'false',
}

async function serveArguments(t: Test) {
  const { url } = await createDatabase(t)
  return [
    ...['--import', 'data:text/javascript,process.execve=undefined'],
    ...[join(root, 'cmd', 'stackroom.mjs'), 'serve', '--port', '0', '--no-workers'],
    ...['--database-url', url, '--data', join(temporaryFolder(t), 'data')],
  ]
}

function endGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

t.test('a signal to the process group ends the server in an orderly way', async t => {
  for (const [name, env] of Object.entries({ shell: {}, npm })) {
    const child = spawn(process.execPath, await serveArguments(t), {
      env: { ...basicEnv, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    t.teardown(() => endGroup(child.pid!))
    const output = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', chunk => {
        output[stream] += chunk
      })
    const closed = once(child, 'close')
    // A launcher that fails ends before.
    await Promise.race([closed, waitUntil(() => output.stdout.includes('listening on'))])
    t.match(output.stdout, 'listening on', `${name}: started`)
    process.kill(-child.pid!, 'SIGTERM')
    t.same(await closed, [0, null], `${name}: exit code`)
    t.notMatch(output.stderr, /Error/, `${name}: no error`)
  }
})

t.test('a server started with nohup outlives its terminal and npm', async t => {
  if (spawnSync('script', ['--version']).status !== 0) {
    t.pass('no script(1) for a terminal')
    return
  }
  const folder = temporaryFolder(t)
  const [log, pid] = [join(folder, 'log'), join(folder, 'pid')]
  const quoted = [process.execPath, ...(await serveArguments(t))].map(text => `'${text}'`).join(' ')
  const read = (file: string) => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return ''
    }
  }
  // The shell has the part of npm: it ends with the terminal.
  const shell = `echo $$ > '${pid}'; nohup ${quoted} > '${log}' 2>&1 < /dev/null & wait`
  const terminal = spawn('script', ['-qc', shell, '/dev/null'], {
    env: { ...basicEnv, ...npm, SHELL: '/bin/sh' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await waitUntil(() => read(pid) !== '')
  const group = Number(read(pid))
  t.teardown(() => endGroup(group))
  await waitUntil(() => read(log).includes('listening on'))
  terminal.kill('SIGKILL')
  await waitUntil(() => read(log).includes('the terminal was closed'))
  const base = /listening on (\S+)/.exec(read(log))![1]!
  t.equal((await fetch(`${base}/health`)).status, 200)
  process.kill(-group, 'SIGTERM')
  await waitUntil(() => !isRunning(group))
  t.notMatch(read(log), /the process that started the server has ended/)
})

function isRunning(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}
