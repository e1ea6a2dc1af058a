import t from 'tap'
import { hideSecrets, openLog } from '../lib/log.ts'

function capture(level: 'info' | 'silent' = 'info') {
  const lines: string[] = []
  const log = openLog({ level }, { write: line => void lines.push(line) })
  return { log, lines }
}

t.test('a line is JSON with its fields, below the level nothing is written', async t => {
  const { log, lines } = capture()
  log.debug('unseen')
  log.info({ libraryId: 7, found: 3, token: 'abcdef' }, 'library scanned')
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0]!), {
    libraryId: 7,
    found: 3,
    msg: 'library scanned',
    token: '[hidden]',
  })
})

t.test('secrets are hidden at any depth, in children, messages and errors', async t => {
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
  t.match(lines[2], /stackroom:\[hidden\]@localhost/, 'the rest of a URL stays')
})

t.test('what only looks like a secret stays', async t => {
  const line = '{"key":"books.title","tokens":3,"url":"http://h:80/a@b","msg":"basic test"}'
  t.equal(hideSecrets(line), line)
})

t.test('a long hostile line takes no time', async t => {
  const start = performance.now()
  hideSecrets(`{"password":"${'\\\\"'.repeat(50_000)}`)
  hideSecrets(`"${'a-'.repeat(100_000)}`)
  hideSecrets('\\'.repeat(100_000))
  hideSecrets('postgres://'.repeat(20_000))
  t.ok(performance.now() - start < 1000, `${Math.round(performance.now() - start)} ms`)
})
