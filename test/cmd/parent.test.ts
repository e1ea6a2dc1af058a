// End of the process that started a server: npm's shell counts, any other parent does not.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'

const module = new URL('../../cmd/parent.ts', import.meta.url).href
const packageFile = join(import.meta.dirname, '..', '..', 'package.json')

// Watches its parent and prints what happened, at the latest after WATCH_MS.
const program = `
  import { watchParent } from ${JSON.stringify(module)}
  let isRequested = false
  const shutdown = { isRequested: () => isRequested, request() { isRequested = true } }
  watchParent({ shutdown, log: { info() {} }, terminal: { isLeft: () => process.env.LEFT === '1' } })
  process.stdout.write('watching')
  const start = Date.now()
  const timer = setInterval(() => {
    if (!isRequested && Date.now() - start < Number(process.env.WATCH_MS)) return
    process.stdout.write(isRequested ? ' ended' : ' stayed')
    clearInterval(timer)
  }, 20)`

/** Runs the program below a shell that is killed; returns what it printed. */
async function orphan(env: Record<string, string>): Promise<string> {
  // The last command would replace the shell.
  const shell = spawn(
    'sh',
    ['-c', '"$@"; true', 'sh', process.execPath, '--no-warnings', '-e', program],
    {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  shell.stdout.on('data', chunk => {
    output += chunk
    if (output === 'watching') shell.kill('SIGTERM')
  })
  await once(shell, 'close')
  await sleep(0)
  return output
}

t.test('a server ends with the script of npm that started it, and only then', async t => {
  const script = { npm_lifecycle_event: 'start', npm_package_json: packageFile }
  const cases: [string, Record<string, string>, string][] = [
    ['npm start', script, 'watching ended'],
    ['npx', { npm_lifecycle_event: 'npx', npm_package_json: '/package.json' }, 'watching ended'],
    ['a shell', {}, 'watching stayed'],
    ['npm start, ended together with the terminal', { ...script, LEFT: '1' }, 'watching stayed'],
    [
      'a script of another package',
      { ...script, npm_package_json: '/package.json' },
      'watching stayed',
    ],
    ['npm without a script', { npm_package_json: packageFile }, 'watching stayed'],
    ['another launcher', { _STACKROOM_LAUNCHER_PID: '1' }, 'watching stayed'],
  ]
  // A server that stays is watched for longer than four polls; one that ends may need longer on a busy machine.
  const watchMs = (expected: string) => (expected.endsWith('ended') ? '60000' : '2000')
  const outputs = await Promise.all(
    cases.map(([, env, expected]) => orphan({ ...env, WATCH_MS: watchMs(expected) })),
  )
  for (const [i, [name, , expected]] of cases.entries()) t.equal(outputs[i], expected, name)
})
