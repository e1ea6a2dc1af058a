import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { effectiveConfig, loadConfig, reloadConfig } from '../../lib/config/config.ts'
import { Invalid } from '../../lib/errors.ts'

const run = promisify(execFile)
const refuses = (t: Test, sources: Parameters<typeof loadConfig>[0], message: RegExp) => {
  t.throws(() => loadConfig({ env: {}, ...sources }), Invalid)
  t.throws(() => loadConfig({ env: {}, ...sources }), { message })
}

t.test('without a word every key has its default, and nothing can be changed', async t => {
  const config = loadConfig({ env: {} })
  t.match(config, {
    data_dir: 'data',
    database: { url: null, max_connections: 10 },
    application: { host: '127.0.0.1', port: 8080 },
    logging: { level: 'info' },
    thumbnail: { max_dimension: 400, format: 'jpeg' },
  })
  t.throws(() => Object.assign(config, { data_dir: 'x' }))
  t.throws(() => Object.assign(config.database, { url: 'x' }))
})

t.test('flags win over environment, environment over file, file over defaults', async t => {
  const dir = t.testdir({
    'a.yaml': 'data_dir: /file\napplication:\n  port: 1\n  host: file\nlogging:\n  level: warn\n',
  })
  const file = join(dir, 'a.yaml')
  const env = { STACKROOM_APPLICATION__PORT: '2', STACKROOM_APPLICATION__HOST: 'env', HOME: '/x' }
  const config = loadConfig({ file, env, flags: { 'application.port': '3', data_dir: undefined } })
  t.match(config, {
    data_dir: '/file',
    application: { port: 3, host: 'env' },
    logging: { level: 'warn' },
  })
  const origin = new Map(effectiveConfig(config).map(key => [key.path, key.origin]))
  t.equal(origin.get('application.port'), 'command line')
  t.equal(origin.get('application.host'), 'STACKROOM_APPLICATION__HOST')
  t.equal(origin.get('logging.level'), file)
  t.equal(origin.get('pipeline.threads'), 'default')
  t.match(loadConfig({ env: { STACKROOM_CONFIG: file } }), { data_dir: '/file' })
})

t.test('the short names of the environment mean the same as the long ones', async t => {
  const url = 'postgres://u:p@h/d'
  for (const name of ['STACKROOM_DATABASE_URL', 'STACKROOM_DATABASE__URL']) {
    t.equal(loadConfig({ env: { [name]: url } }).database.url, url)
  }
  for (const name of ['STACKROOM_DATA', 'STACKROOM_DATA_DIR']) {
    t.equal(loadConfig({ env: { [name]: '/d' } }).data_dir, '/d')
  }
  refuses(t, { env: { STACKROOM_DATA: '/a', STACKROOM_DATA_DIR: '/b' } }, /contradict/)
  t.equal(loadConfig({ env: { STACKROOM_DATABASE_URL: '' } }).database.url, null)
})

t.test('a secret may come from a file, and only a secret', async t => {
  const dir = t.testdir({ url: 'postgres://u:hunter2@h/d\n' })
  const config = loadConfig({ env: { STACKROOM_DATABASE_URL_FILE: join(dir, 'url') } })
  t.equal(config.database.url, 'postgres://u:hunter2@h/d')
  t.notMatch(JSON.stringify(effectiveConfig(config)), /hunter2/)
  refuses(t, { env: { STACKROOM_DATABASE_URL_FILE: join(dir, 'none') } }, /_URL_FILE.*ENOENT/)
  refuses(t, { env: { STACKROOM_LOGGING__LEVEL_FILE: 'x' } }, /Unknown environment variable/)
})

t.test('unknown names are refused with the nearest known one', async t => {
  const dir = t.testdir({
    'key.yaml': 'logging:\n  levle: info\n',
    'section.yaml': 'databse:\n  url: null\n',
    'moved.yaml': 'port: 80\n',
    'far.yaml': 'zebra: 1\n',
  })
  refuses(t, { file: join(dir, 'key.yaml') }, /logging\.levle; did you mean logging\.level\?/)
  refuses(t, { file: join(dir, 'section.yaml') }, /databse; did you mean database\?/)
  refuses(t, { file: join(dir, 'moved.yaml') }, /port; did you mean application\.port\?/)
  refuses(t, { file: join(dir, 'far.yaml') }, /unknown key zebra$/)
  const env = { STACKROOM_LOGING__LEVEL: 'info' }
  refuses(t, { env }, /STACKROOM_LOGING__LEVEL; did you mean STACKROOM_LOGGING__LEVEL\?/)
})

t.test('bad values are refused with what they must be', async t => {
  const dir = t.testdir({
    'type.yaml': 'application:\n  port: "8080"\n',
    'flat.yaml': 'application: 8080\n',
    'list.yaml': '- 1\n',
    'broken.yaml': 'logging:\n  level: info\n database: {\n',
    'twice.yaml': 'data_dir: a\ndata_dir: b\n',
    'deep.yaml': 'data_dir:\n  a: 1\n',
  })
  refuses(t, { file: join(dir, 'type.yaml') }, /application\.port .* 0 to 65535, not "8080"/)
  refuses(t, { file: join(dir, 'flat.yaml') }, /application must hold keys/)
  refuses(t, { file: join(dir, 'list.yaml') }, /the file must hold keys/)
  refuses(t, { file: join(dir, 'broken.yaml') }, /broken\.yaml:3/)
  refuses(t, { file: join(dir, 'twice.yaml') }, /twice\.yaml:2/)
  refuses(t, { file: join(dir, 'deep.yaml') }, /data_dir .* must be a text/)
  refuses(t, { file: join(dir, 'none.yaml') }, /none\.yaml.*ENOENT/)
  refuses(t, { env: { STACKROOM_PIPELINE__THREADS: 'many' } }, /a whole number from 0 to 256/)
  refuses(t, { env: { STACKROOM_PIPELINE__THREADS: '257' } }, /not 257/)
  refuses(t, { env: { STACKROOM_THUMBNAIL__FORMAT: 'png' } }, /one of jpeg, webp, not "png"/)
})

t.test('a refused secret is not repeated', async t => {
  const env = { STACKROOM_DATABASE_URL: 'mysql://u:hunter2@h/d' }
  t.throws(() => loadConfig({ env }), { message: /^(?!.*hunter2).*like postgres:/ })
})

t.test('the commands check with an exit code and print YAML', async t => {
  const code = `
    import { configCommand } from ${JSON.stringify(new URL('../../cmd/config.ts', import.meta.url).href)}
    await configCommand().parseAsync(process.argv.slice(1), { from: 'user' })`
  const stackroom = (args: string[], env = {}) =>
    run(process.execPath, ['--no-warnings', '--input-type=module', '-e', code, '--', ...args], {
      env: { PATH: process.env.PATH, ...env },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )
  t.match(await stackroom(['check']), { code: 0, stdout: /valid/ })
  const wrong = { STACKROOM_LOGGING__LEVEL: 'loud' }
  t.match(await stackroom(['check'], wrong), { code: 2, stdout: '', stderr: /logging\.level/ })
  const printed = (await stackroom(['print'])).stdout
  t.same(parse(printed), JSON.parse(JSON.stringify(loadConfig({ env: {} }))))
  const file = join(t.testdir({ 'a.yaml': printed }), 'a.yaml')
  t.same(loadConfig({ file, env: {} }), loadConfig({ env: {} }), 'it is a file to start from')
  const env = { STACKROOM_DATABASE_URL: 'postgres://u:hunter2@h/d' }
  const effective = (await stackroom(['print', '--effective'], env)).stdout
  t.match(effective, /url: "?\*+"? # STACKROOM_DATABASE_URL/)
  t.notMatch(effective, /hunter2/)
})

t.test('a reload changes what can be changed, in the one object that everyone holds', async t => {
  const dir = t.testdir({ 'a.yaml': '', password: 'one' })
  const file = join(dir, 'a.yaml')
  const env = { STACKROOM_EMAIL__PASSWORD_FILE: join(dir, 'password') }
  const config = loadConfig({ file, env, flags: { 'auth.refresh_token_days': '7' } })
  const { rate_limit: rates } = config
  t.same(reloadConfig(config), { changed: [], waiting: [] })
  writeFileSync(
    file,
    'rate_limit:\n  image_rps: 5\nauth:\n  refresh_token_days: 9\nthumbnail:\n  quality: 50\n',
  )
  writeFileSync(join(dir, 'password'), 'two')
  t.same(reloadConfig(config), {
    changed: ['rate_limit.image_rps', 'email.password'],
    waiting: ['thumbnail.quality'],
  })
  t.equal(rates.image_rps, 5)
  t.equal(config.email.password, 'two')
  t.equal(config.auth.refresh_token_days, 7, 'a flag is said once for all')
  t.equal(config.thumbnail.quality, 85, 'and stays until the next start')
  t.same(reloadConfig(config).waiting, ['thumbnail.quality'], 'which is said every time')
  writeFileSync(file, 'rate_limit:\n  image_rps: 6\n  login_burst: 0\n')
  t.throws(() => reloadConfig(config), { message: /rate_limit\.login_burst/ })
  t.equal(rates.image_rps, 5, 'all or nothing')
  rmSync(file)
  t.throws(() => reloadConfig(config), Invalid)
  t.equal(rates.image_rps, 5)
  t.throws(() => Object.assign(rates, { image_rps: 1 }))
})
