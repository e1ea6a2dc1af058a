// The npm package: it runs without sources and with its own dependencies alone, and contains only what it needs.
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { adminHeaders } from '../kit/accounts.ts'
import { createDatabase, projectRoot } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { comic } from '../kit/library.ts'
import { waitUntil } from '../kit/processes.ts'

const json = (path: string) => JSON.parse(readFileSync(join(projectRoot, path), 'utf8'))
const paths = packedPaths()
const folder = join(temporaryFolder(t), 'package')
install()

function packedPaths(): string[] {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: projectRoot,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  return files.map(({ path }) => path)
}

/** What `npm pack` takes, compiled, and beside it the packages that npm installs with it. */
function install() {
  for (const path of paths) cpSync(join(projectRoot, path), join(folder, path))
  const build = join(projectRoot, 'deploy', 'package', 'build.ts')
  const { status, stderr } = spawnSync(process.execPath, [build, join(folder, 'dist')], {
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  const { packages } = json('package-lock.json') as { packages: Record<string, { dev?: boolean }> }
  for (const [path, { dev }] of Object.entries(packages)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1]
    if (name === undefined || dev) continue
    const link = join(folder, path)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(projectRoot, path), link, 'junction')
  }
}

async function serve(t: Test, variables: Record<string, string> = {}, ...options: string[]) {
  const { sql, url } = await createDatabase(t)
  const command = [join(folder, 'cmd', 'stackroom.mjs'), 'serve', '--port', '0', ...options]
  const where = ['--database-url', url, '--data', temporaryFolder(t)]
  const child = spawn(process.execPath, [...command, ...where], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...variables },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
    })
  await waitUntil(() => /listening on \S+/.test(output) || child.exitCode !== null)
  const [, base] = /listening on (\S+)/.exec(output) ?? []
  t.ok(base, output)
  return { sql, base, output: () => output }
}

t.test('a package serves the application and scans, without sources', async t => {
  const books = temporaryFolder(t)
  writeFileSync(join(books, 'One 01.cbz'), comic())
  const { base, output } = await serve(t, {}, '--library', books)
  const page = await fetch(`${base}/`)
  t.equal(page.status, 200)
  t.match(await page.text(), /<script type="module"/)
  await waitUntil(() => /\bnew +\d+/.test(output()))
  t.match(output(), /new +1\b/)
  t.match(output(), /failed +0\b/)
})

t.test(
  'a damaged or missing application is one sentence, and whole again it is served',
  async t => {
    const file = join(folder, 'dist', 'web.build')
    const whole = `${file}.whole`
    renameSync(file, whole)
    writeFileSync(file, readFileSync(whole).subarray(0, 100_000))
    const { base, output } = await serve(t)
    const sentence =
      'The web application in this package is missing or damaged: install Stackroom again'
    const answer = async () => {
      const response = await fetch(`${base}/`)
      return { status: response.status, text: await response.text() }
    }
    t.match(await answer(), { status: 503, text: `"message":"${sentence}"` })
    renameSync(file, `${file}.damaged`)
    t.match(await answer(), { status: 503, text: `"message":"${sentence}"` })
    await waitUntil(() => output().includes(`"msg":"${sentence}"`))
    t.notMatch(output(), /"stack"|\n +at /)
    t.equal((await fetch(`${base}/api/v1/health`)).status, 200, 'everything else works')
    renameSync(whole, file)
    t.match(await answer(), { status: 200, text: '<script type="module"' })
  },
)

t.test('a plugin from the documentation works', async t => {
  const plugins = temporaryFolder(t)
  for (const name of ['sdk.ts', 'contract.ts'])
    cpSync(join(folder, 'lib', 'sources', name), join(plugins, 'sdk', name))
  const text = readFileSync(join(folder, 'docs', 'sources.md'), 'utf8')
  const [, example] = /```ts\n(import \{ PluginError.*?)```/s.exec(text) ?? []
  writeFileSync(join(plugins, 'example.ts'), example!)
  const { sql, base } = await serve(t, { STACKROOM_PLUGINS__DIR: plugins })
  const headers = { ...(await adminHeaders(sql)), 'content-type': 'application/json' }
  const post = async (path: string, body: object) => {
    const options = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${base}/api/v1/admin/sources${path}`, options)
    return (await response.json()) as { id: string }
  }
  const source = { type: 'plugin', name: 'mine', displayName: 'Mine', enabled: true }
  const config = { plugin: 'example.ts' }
  const { id } = await post('', { ...source, config, credentials: { token: 'a' } })
  t.match(await post(`/${id}/test`, {}), { success: true, manifest: { displayName: 'Example' } })
  const needy = await post('', { ...source, name: 'needy', config, credentials: {} })
  t.match(await post(`/${needy.id}/test`, {}), { success: false, message: /A token is needed/ })
})

t.test('npm pack includes no sources, tests and tools', async t => {
  t.same(
    paths.filter(path => /\.tsx?$|^(test|bench|lib|pipeline|\.ci)\//.test(path)),
    ['lib/sources/contract.ts', 'lib/sources/sdk.ts'],
    'apart from what plugins copy',
  )
  t.ok(paths.includes(json('package.json').bin.stackroom))
  t.ok(paths.includes('sql/0001_baseline.sql'))
  const { dependencies } = json('package.json')
  const used = new Set<string>()
  for (const entry of readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' }))
    if (entry.endsWith('.js')) {
      const code = readFileSync(join(folder, 'dist', entry), 'utf8')
      for (const name of Object.keys(dependencies)) if (code.includes(`"${name}`)) used.add(name)
    }
  t.same(
    Object.keys(dependencies).filter(name => !used.has(name)),
    [],
    'every dependency is used by the compiled code',
  )
})
