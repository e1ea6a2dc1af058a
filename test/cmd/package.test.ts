// The npm package: it runs without sources, without esbuild, and contains only what it needs.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDatabase, projectRoot } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { comic } from '../kit/library.ts'
import { waitUntil } from '../kit/processes.ts'

/** Packages that only the build of the web application needs. */
const buildPackages = /^(@?esbuild|preact|@preact|openapi-fetch|qrcode-generator)$/

function install(folder: string) {
  const build = join(projectRoot, 'deploy', 'package', 'build.ts')
  const { status, stderr } = spawnSync(process.execPath, [build, join(folder, 'dist')], {
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  for (const path of ['package.json', 'sql', 'cmd/stackroom.mjs'])
    cpSync(join(projectRoot, path), join(folder, path), { recursive: true })
  mkdirSync(join(folder, 'cmd', 'node'))
  for (const name of readdirSync(join(projectRoot, 'cmd', 'node')))
    if (name.endsWith('.mjs'))
      cpSync(join(projectRoot, 'cmd', 'node', name), join(folder, 'cmd', 'node', name))
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(join(projectRoot, 'node_modules')))
    if (!buildPackages.test(name))
      symlinkSync(
        join(projectRoot, 'node_modules', name),
        join(folder, 'node_modules', name),
        'junction',
      )
}

t.test('a package serves the application and scans, without sources', async t => {
  const folder = join(temporaryFolder(t), 'package')
  mkdirSync(folder)
  install(folder)
  const books = join(folder, 'books')
  mkdirSync(books)
  writeFileSync(join(books, 'One 01.cbz'), comic())
  const { url } = await createDatabase(t)
  const child = spawn(
    process.execPath,
    [
      ...[join(folder, 'cmd', 'stackroom.mjs'), 'serve', '--port', '0', '--library', books],
      ...['--database-url', url, '--data', join(folder, 'data')],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
    })
  await waitUntil(() => /listening on \S+/.test(output) || child.exitCode !== null)
  const [, base] = /listening on (\S+)/.exec(output) ?? []
  t.ok(base, output)
  const page = await fetch(`${base}/`)
  t.equal(page.status, 200)
  t.match(await page.text(), /<script type="module"/)
  await waitUntil(() => /\bnew +\d+/.test(output))
  t.match(output, /new +1\b/)
  t.match(output, /failed +0\b/)
})

t.test('npm pack includes no sources, tests and tools', async t => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: projectRoot,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const paths = files.map(({ path }) => path)
  t.same(
    paths.filter(path => /\.tsx?$|^(test|bench|lib|pipeline|\.ci)\//.test(path)),
    [],
  )
  const { bin } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'))
  t.ok(paths.includes(bin.stackroom))
  t.ok(paths.includes('sql/0001_baseline.sql'))
})
