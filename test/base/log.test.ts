// Log output and redaction of secrets.
import { hostname } from 'node:os'
import t from 'tap'
import { logText } from '../../cmd/log-text.ts'
import { openLog, redactSecrets } from '../../lib/base/log.ts'
import { cpuMs } from '../kit/suite/cpu-time.ts'

function capture(level: 'info' | 'silent' = 'info') {
  const lines: string[] = []
  const log = openLog({ level }, { write: line => void lines.push(line) })
  return { log, lines }
}

t.test('a log line is JSON; nothing below the level is written', async t => {
  const { log, lines } = capture()
  log.debug('below the level')
  log.info({ libraryId: 7, found: 3, token: 'abcdef' }, 'library scanned')
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0]!), {
    libraryId: 7,
    found: 3,
    msg: 'library scanned',
    token: '[redacted]',
    hostname: hostname(),
    pid: process.pid,
  })
})

t.test('secrets are redacted at any depth, in child loggers, messages and errors', async t => {
  const { log, lines } = capture()
  const secret = 'hunter2hunter2'
  const deep = { a: { b: { c: { d: { e: { password: secret } } } } } }
  log.info({ deep, headers: { authorization: `Bearer ${secret}`, cookie: [secret, secret] } }, 'x')
  log.child({ apiKey: secret }).info({ client_secret: `a"${secret}\\`, jwt: secret }, 'y')
  log.info(`connecting to postgres://stackroom:${secret}@localhost/x`)
  log.error(new Error(`postgres://u:${secret}@h refused, Authorization: Basic ${secret}`))
  log.warn({ url: `/pages/1?apiKey=${secret}&x=1`, body: JSON.stringify({ password: secret }) })
  for (const line of lines) {
    t.notMatch(line, /hunter2/)
    t.doesNotThrow(() => JSON.parse(line), 'the line is still JSON')
  }
  t.match(lines[2], /stackroom:\[redacted\]@localhost/, 'the rest of a URL is unchanged')
})

t.test('values that only resemble secrets are unchanged', async t => {
  const line = '{"key":"books.title","tokens":3,"url":"http://h:80/a@b","msg":"basic test"}'
  t.equal(redactSecrets(line), line)
})

t.test('redaction takes linear time for hostile lines', async t => {
  const start = cpuMs()
  redactSecrets(`{"password":"${'\\\\"'.repeat(50_000)}`)
  redactSecrets(`"${'a-'.repeat(100_000)}`)
  redactSecrets('\\'.repeat(100_000))
  redactSecrets('postgres://'.repeat(20_000))
  t.ok(cpuMs() - start < 1000, `${Math.round(cpuMs() - start)} ms`)
})

t.test('on a terminal a line is text that cannot control it', async t => {
  const { log, lines } = capture()
  log.warn({ folder: 'a b\u001b[2J', found: 3, paths: ['x'] }, 'library\u001b[2J')
  log.info('short')
  log.error({ err: new Error('broken') }, 'failed')
  const [first, second, third] = lines.map(logText)
  t.match(
    first,
    /^\d\d:\d\d:\d\d warning: library\ufffd\[2J {2}folder='a b\\x1B\[2J' {2}found=3 {2}paths=\[ 'x' \]\n$/,
  )
  t.match(second, /^\S{8} short\n$/)
  t.match(third, /^\S{8} error: failed\nError: broken\n {4}at .+\n$/s)
  t.equal(logText('no JSON'), 'no JSON')
})
