// Configuration: sources, validation, reload, commands, generated reference.
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { Invalid } from '../../../lib/base/errors.ts'
import { effectiveConfig, loadConfig, reloadConfig } from '../../../lib/store/config/config.ts'
import { allKeys, sectionOf } from '../../../lib/store/config/keys.ts'
import { configurationReference } from '../../../lib/store/config/reference.ts'
import { sections } from '../../../lib/store/config/sections.ts'

const run = promisify(execFile)
const rejects = (t: Test, sources: Parameters<typeof loadConfig>[0], message: RegExp) => {
  t.throws(() => loadConfig({ env: {}, ...sources }), Invalid)
  t.throws(() => loadConfig({ env: {}, ...sources }), { message })
}

t.test('without sources every key has its default, and the configuration is read-only', async t => {
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

t.test('all problems are reported at once', async t => {
  const dir = t.testdir({ 'a.yaml': 'data_dri: x\napplication:\n  port: many\n  hots: y\n' })
  const env = { STACKROOM_LOGGING__LEVEL: 'loud', STACKROOM_NO_SUCH: '1' }
  const error = t.throws(() => loadConfig({ file: join(dir, 'a.yaml'), env })) as Error
  t.match(error.message, /^the configuration has 5 problems:\n/)
  for (const name of ['data_dri', 'hots', 'STACKROOM_NO_SUCH', 'application.port', 'logging.level'])
    t.match(error.message, name)
})

t.test(
  'flags override the environment, the environment the file, the file the defaults',
  async t => {
    const dir = t.testdir({
      'a.yaml': 'data_dir: /file\napplication:\n  port: 1\n  host: file\nlogging:\n  level: warn\n',
    })
    const file = join(dir, 'a.yaml')
    const env = { STACKROOM_APPLICATION__PORT: '2', STACKROOM_APPLICATION__HOST: 'env', HOME: '/x' }
    const config = loadConfig({
      file,
      env,
      flags: { 'application.port': '3', data_dir: undefined },
    })
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
  },
)

t.test('short environment variables are aliases of the long ones', async t => {
  const url = 'postgres://u:p@h/d'
  for (const name of ['STACKROOM_DATABASE_URL', 'STACKROOM_DATABASE__URL']) {
    t.equal(loadConfig({ env: { [name]: url } }).database.url, url)
  }
  for (const name of ['STACKROOM_DATA', 'STACKROOM_DATA_DIR']) {
    t.equal(loadConfig({ env: { [name]: '/d' } }).data_dir, '/d')
  }
  rejects(t, { env: { STACKROOM_DATA: '/a', STACKROOM_DATA_DIR: '/b' } }, /contradict/)
  t.equal(loadConfig({ env: { STACKROOM_DATABASE_URL: '' } }).database.url, null)
})

t.test('secrets, and only secrets, can be read from a file', async t => {
  const dir = t.testdir({ url: 'postgres://u:hunter2@h/d\n' })
  const config = loadConfig({ env: { STACKROOM_DATABASE_URL_FILE: join(dir, 'url') } })
  t.equal(config.database.url, 'postgres://u:hunter2@h/d')
  t.notMatch(JSON.stringify(effectiveConfig(config)), /hunter2/)
  rejects(t, { env: { STACKROOM_DATABASE_URL_FILE: join(dir, 'none') } }, /_URL_FILE.*ENOENT/)
  rejects(t, { env: { STACKROOM_LOGGING__LEVEL_FILE: 'x' } }, /Unknown environment variable/)
})

t.test('unknown names are rejected with a suggestion', async t => {
  const dir = t.testdir({
    'key.yaml': 'logging:\n  levle: info\n',
    'section.yaml': 'databse:\n  url: null\n',
    'moved.yaml': 'port: 80\n',
    'far.yaml': 'zebra: 1\n',
    'short.yaml': 'logging:\n  lvl: info\n',
    'long.yaml': 'logging:\n  leeveel: info\n',
    'other.yaml': 'logging:\n  lxxxxxxx: info\n',
  })
  rejects(t, { file: join(dir, 'key.yaml') }, /logging\.levle; did you mean logging\.level\?/)
  rejects(t, { file: join(dir, 'section.yaml') }, /databse; did you mean database\?/)
  rejects(t, { file: join(dir, 'moved.yaml') }, /port; did you mean application\.port\?/)
  rejects(t, { file: join(dir, 'far.yaml') }, /unknown key zebra$/)
  rejects(t, { file: join(dir, 'short.yaml') }, /logging\.lvl; did you mean logging\.level\?/)
  rejects(t, { file: join(dir, 'long.yaml') }, /logging\.leeveel; did you mean logging\.level\?/)
  rejects(t, { file: join(dir, 'other.yaml') }, /unknown key logging\.lxxxxxxx$/)
  const env = { STACKROOM_LOGING__LEVEL: 'info' }
  rejects(t, { env }, /STACKROOM_LOGING__LEVEL; did you mean STACKROOM_LOGGING__LEVEL\?/)
})

t.test('invalid values are rejected with the expected ones', async t => {
  const dir = t.testdir({
    'type.yaml': 'application:\n  port: "8080"\n',
    'flat.yaml': 'application: 8080\n',
    'list.yaml': '- 1\n',
    'broken.yaml': 'logging:\n  level: info\n database: {\n',
    'twice.yaml': 'data_dir: a\ndata_dir: b\n',
    'deep.yaml': 'data_dir:\n  a: 1\n',
  })
  rejects(t, { file: join(dir, 'type.yaml') }, /application\.port .* 0 to 65535, not "8080"/)
  rejects(t, { file: join(dir, 'flat.yaml') }, /application must contain keys/)
  rejects(t, { file: join(dir, 'list.yaml') }, /the file must contain keys/)
  rejects(t, { file: join(dir, 'broken.yaml') }, /broken\.yaml:3/)
  rejects(t, { file: join(dir, 'twice.yaml') }, /twice\.yaml:2/)
  rejects(t, { file: join(dir, 'deep.yaml') }, /data_dir .* must be a non-empty string/)
  rejects(t, { file: join(dir, 'none.yaml') }, /none\.yaml.*ENOENT/)
  rejects(t, { env: { STACKROOM_PIPELINE__THREADS: 'many' } }, /an integer from 0 to 256/)
  rejects(t, { env: { STACKROOM_PIPELINE__THREADS: '257' } }, /not 257/)
  rejects(t, { env: { STACKROOM_THUMBNAIL__FORMAT: 'png' } }, /one of jpeg, webp, not "png"/)
})

t.test('the value of an invalid secret is not quoted', async t => {
  const env = { STACKROOM_DATABASE_URL: 'mysql://u:hunter2@h/d' }
  t.throws(() => loadConfig({ env }), { message: /^(?!.*hunter2).*must be a URL like postgres:/ })
})

t.test('config check sets the exit code, config print prints YAML with scopes', async t => {
  const code = `
    import { configCommand } from ${JSON.stringify(new URL('../../../cmd/config.ts', import.meta.url).href)}
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
  t.same(
    loadConfig({ file, env: {} }),
    loadConfig({ env: {} }),
    'the output is a valid configuration file',
  )
  const env = { STACKROOM_DATABASE_URL: 'postgres://u:hunter2@h/d' }
  const effective = (await stackroom(['print', '--effective'], env)).stdout
  t.match(effective, /url: "?\*+"? # \[boot\] STACKROOM_DATABASE_URL/)
  t.notMatch(effective, /hunter2/)
})

t.test('a reload changes keys of reload scope in the existing object', async t => {
  const dir = t.testdir({ 'a.yaml': '', password: 'one' })
  const file = join(dir, 'a.yaml')
  const env = { STACKROOM_EMAIL__PASSWORD_FILE: join(dir, 'password') }
  const config = loadConfig({ file, env, flags: { 'auth.refresh_token_days': '7' } })
  const { rate_limit: rateLimit } = config
  t.same(reloadConfig(config), { changed: [], restartRequired: [] })
  writeFileSync(
    file,
    'rate_limit:\n  image_rps: 5\nauth:\n  refresh_token_days: 9\nthumbnail:\n  quality: 50\n',
  )
  writeFileSync(join(dir, 'password'), 'two')
  t.same(reloadConfig(config), {
    changed: ['rate_limit.image_rps', 'email.password'],
    restartRequired: ['thumbnail.quality'],
  })
  t.equal(rateLimit.image_rps, 5)
  t.equal(config.email.password, 'two')
  t.equal(config.auth.refresh_token_days, 7, 'a flag overrides the file also after a reload')
  t.equal(config.thumbnail.quality, 85, 'a key of boot scope is unchanged until a restart')
  t.same(
    reloadConfig(config).restartRequired,
    ['thumbnail.quality'],
    'it is reported at every reload',
  )
  writeFileSync(file, 'rate_limit:\n  image_rps: 6\n  login_burst: 0\n')
  t.throws(() => reloadConfig(config), { message: /rate_limit\.login_burst/ })
  t.equal(rateLimit.image_rps, 5, 'an invalid file changes nothing')
  rmSync(file)
  t.throws(() => reloadConfig(config), Invalid)
  t.equal(rateLimit.image_rps, 5)
  t.throws(() => Object.assign(rateLimit, { image_rps: 1 }))
})

t.test(
  'a runtime setting in the file or the environment is rejected with a pointer to the API',
  t => {
    const file = join(t.testdir({ 'a.yaml': 'watch:\n  poll_seconds: 9\n' }), 'a.yaml')
    rejects(t, { file }, /watch\.poll_seconds is a runtime setting; .*\/admin\/settings/)
    const env = { STACKROOM_AUTH__REGISTRATION_ENABLED: 'true' }
    rejects(t, { env }, /auth\.registration_enabled is a runtime setting/)
    t.end()
  },
)

t.test('docs/configuration.md is up to date (npm run docs)', t => {
  const file = new URL('../../../docs/configuration.md', import.meta.url)
  t.equal(readFileSync(file, 'utf8'), configurationReference())
  const used = new Set([...allKeys.keys()].map(sectionOf))
  t.same(
    Object.keys(sections).filter(section => !used.has(section)),
    [],
  )
  t.same(
    [...used].filter(section => sections[section] === undefined),
    [],
  )
  t.end()
})
