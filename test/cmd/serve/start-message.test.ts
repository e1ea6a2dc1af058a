// What `serve` states when it starts: a block on a terminal, lines and a log entry elsewhere; `--open`.
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { firstPage, listeningAt } from '../../../cmd/serve/start-message.ts'
import { loadConfig } from '../../../lib/store/config/config.ts'
import { insertAccount } from '../../kit/accounts.ts'
import { commandLine, hasScript } from '../../kit/command.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { waitUntil } from '../../kit/processes.ts'

const folder = temporaryFolder(t)
const data = join(folder, 'data')
const opened = join(folder, 'opened')
const opener = join(folder, 'xdg-open')
writeFileSync(opener, `#!/bin/sh\necho "$1" > '${opened}'\n`)
chmodSync(opener, 0o755)
const variables = { PATH: `${folder}:${process.env.PATH}`, STACKROOM_WEB__ENABLED: 'true' }
const { sql, start, startOnTerminal } = await commandLine(t, variables, data)

/** Output of a server that is ended once it matches, or `isDone`. */
async function outputUntil(
  child: ReturnType<typeof start | typeof startOnTerminal>,
  isDone: RegExp | (() => boolean),
) {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', chunk => {
      output[name] += chunk
    })
  t.teardown(() => child.kill('SIGKILL'))
  await waitUntil(() =>
    isDone instanceof RegExp ? isDone.test(output.stdout + output.stderr) : isDone(),
  )
  const closed = once(child, 'close')
  // Ctrl-C
  if (child.stdin) child.stdin.write('\x03')
  else child.kill('SIGTERM')
  await closed
  return output
}

t.test('lines and a log entry without a terminal', async t => {
  const { stdout, stderr } = await outputUntil(start(['serve', '--port', '0']), /"server started"/)
  const [, token] = /^Setup token \(.+\): (\S+)$/m.exec(stdout) ?? []
  t.match(
    stdout,
    /^Stackroom is listening on http:\/\/127\.0\.0\.1:\d+\nOnly this machine can reach/,
  )
  t.notMatch(stderr, token, 'the token is not logged')
  t.notMatch(stderr, /Server listening/, 'the address is stated once')
  const line = stderr.split('\n').find(text => text.includes('server started'))
  t.match(JSON.parse(line!), {
    url: /^http:..127\.0\.0\.1:\d+$/,
    networkUrls: [],
    isLocal: true,
    publicUrl: null,
    isSetupPending: true,
    dataDirectory: data,
    database: 'external',
  })
})

t.test(
  'a block in plain words on a terminal; the browser is opened',
  { skip: !hasScript },
  async t => {
    const first = await outputUntil(startOnTerminal(['serve', '--port', '0', '--open']), () =>
      existsSync(opened),
    )
    const text = first.stdout.replaceAll('\r', '')
    t.match(
      text,
      /^Stackroom is listening on http:..127\.0\.0\.1:\d+\n {2}Network {2}Only this machine/,
    )
    const [, address] =
      /\n {2}Setup +(http:..127\.0\.0\.1:\d+\/setup#token=[\w-]{32})\n/.exec(text) ?? []
    t.ok(address)
    t.match(text, /\n {2}Stop +Ctrl-C\n/)
    t.match(text, `\n  Data     ${data} (covers, keys) and an external PostgreSQL\n`)
    t.notMatch(text, /Setup token|server started/)
    t.equal(readFileSync(opened, 'utf8'), `${address}\n`)

    await insertAccount(sql, 'admin')
    writeFileSync(opener, '#!/bin/sh\nexit 3\n')
    const later = await outputUntil(
      startOnTerminal(['serve', '--port', '0', '--host', '0.0.0.0', '--open']),
      /could not be opened/,
    )
    t.notMatch(later.stdout, /Setup|Only this machine/)
    t.match(
      later.stdout,
      /warning: the browser could not be opened +command=xdg-open +reason='exit code 3'/,
    )
  },
)

t.test('addresses', async t => {
  const port = 8080
  const at = (address: string) => listeningAt({ address, port, family: '' })
  t.same(at('::1'), { url: 'http://[::1]:8080', networkUrls: [], isLocal: true })
  t.same(at('192.0.2.9'), {
    url: 'http://192.0.2.9:8080',
    networkUrls: ['http://192.0.2.9:8080'],
    isLocal: false,
  })
  t.match(at('0.0.0.0'), { url: 'http://127.0.0.1:8080', isLocal: false })
  t.match(at('::'), { url: 'http://[::1]:8080', isLocal: false })

  const setupToken = 'abc'
  const pageFor = (flags: Record<string, unknown>) =>
    firstPage({ ...at('192.0.2.9'), config: loadConfig({ env: {}, flags }), setupToken })
  t.equal(pageFor({}), 'http://192.0.2.9:8080/setup#token=abc')
  t.equal(
    pageFor({ 'application.public_url': 'https://example.org/books/' }),
    'https://example.org/books/setup#token=abc',
  )
  t.equal(pageFor({ 'web.enabled': false }), 'http://192.0.2.9:8080/')
})
