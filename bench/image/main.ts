// The container image without a container engine: runs the instructions of deploy/docker/Dockerfile in clean Debian
// roots, starts the result with a read-only root, and prints sizes and times. It replaces no build by an engine:
// layers, labels and the signals of a container runtime remain untested.
//   npm run bench -- image [--work DIR] [--mirror URL] [--registry URL]
// Needs Linux, root and debootstrap. What is built is the work tree, as far as git does not ignore it.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../test/kit/ports.ts'
import { print } from '../kit/stackroom.ts'
import { openWorkFolder, readHost, rootVariables, run, temporaryFolder } from '../platforms/host.ts'
import { writeLibrary } from '../platforms/library.ts'
import { checkImages, scannedBooks } from '../platforms/probe/catalog.ts'
import { createChecks } from '../platforms/probe/checks.ts'
import { readFirstPage } from '../platforms/probe/installation.ts'
import { untilServed } from '../platforms/probe/process.ts'
import { signIn } from '../platforms/probe/server.ts'
import { copyRoot, createRoot, rootWith, type Suite } from '../platforms/roots.ts'
import { openSandbox, type Sandbox } from '../platforms/sandbox.ts'
import { readDockerfile, readVariables, type Stage } from './dockerfile.ts'
import { checkUpgraded, writePrevious } from './previous.ts'

const { values } = parseArgs({
  options: { work: { type: 'string' }, mirror: { type: 'string' }, registry: { type: 'string' } },
})
if (process.getuid?.() !== 0) throw new Error('Clean roots need root')
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

type Settings = { variables: Record<string, string>; [keyword: string]: unknown }

const checkout = join(import.meta.dirname, '..', '..')
const dockerfile = join(checkout, 'deploy', 'docker', 'Dockerfile')
const work = openWorkFolder(
  values.work ?? join(tmpdir(), `stackroom-platforms-${process.getuid?.()}`),
)
const host = readHost(values)
const folder = temporaryFolder(work)
const context = join(folder, 'context')
const roots = new Map<string, string>()
let commands = 0

writeContext()
const stages = readDockerfile(readFileSync(dockerfile, 'utf8'))
let settings: Settings = { variables: {} }
for (const stage of stages) {
  const began = performance.now()
  settings = await build(stage)
  print({ stage: stage.base, seconds: secondsSince(began) })
}
const image = roots.get(stages.at(-1)!.name)!
print({ commands, megabytes: megabytes(image), folders: sizes(image) })
const owner = { uid: 4242, home: '/' }
const superuser = { uid: 0, home: '/root' }
await start('any user id', owner, {})
await start('root with PUID', superuser, { PUID: '1000', PGID: '1000' })
await upgrade('17')

/** What Dockerfile.dockerignore admits. */
function writeContext() {
  const lines = readFileSync(`${dockerfile}.dockerignore`, 'utf8').split('\n')
  const paths = lines.filter(line => line.startsWith('!')).map(line => line.slice(1))
  const options = ['--cached', '--others', '--exclude-standard']
  const input = run('git', ['ls-files', ...options, '--', ...paths], { cwd: checkout })
  mkdirSync(context)
  const copy = ['-c', 'tar -c --no-recursion -T - | tar -x --no-same-owner -C "$0"', context]
  run('sh', copy, { input, cwd: checkout })
}

async function build({ base, name, instructions }: Stage): Promise<Settings> {
  const root = join(folder, `root-${roots.size}`)
  roots.set(name, root)
  await createBase(base, root)
  const sandbox = await openSandbox(root)
  const settings: Settings = { variables: {} }
  let workFolder = '/'
  try {
    for (const { keyword, text } of instructions) {
      commands += 1
      if (keyword === 'RUN') {
        const variables = { ...rootVariables(host), ...settings.variables }
        await sandbox.run(['sh', '-c', text], { variables, folder: workFolder })
      } else if (keyword === 'COPY') copy(text, root, workFolder)
      else if (keyword === 'ENV') Object.assign(settings.variables, readVariables(text))
      else if (keyword === 'WORKDIR') {
        workFolder = resolve(workFolder, text)
        mkdirSync(join(root, workFolder), { recursive: true })
      } else settings[keyword] = text
    }
  } finally {
    await sandbox.close()
  }
  return settings
}

/** A root like that of the image `node:24-SUITE-slim` or `debian:SUITE-slim`. */
async function createBase(base: string, root: string) {
  const [, node, suite = ''] = /^(?:node:(\d+)-|debian:)(\w+)-slim$/.exec(base) ?? []
  if (node) await createRoot({ host, work, suite: suite as Suite, node: node as '24' }, root)
  else copyRoot(await rootWith(host, work, suite as Suite, []), root)
  // The images have no account for a person, and no documentation, translations and lists of packages.
  const excluded = ['doc', 'man', 'locale', 'info', 'lintian'].map(name => `usr/share/${name}/*`)
  const lists = ['var/lib/apt/lists/*', 'var/cache/apt/*', 'var/log/*']
  const script = `sed -i '/^reader:/d' etc/passwd etc/group; rm -rf ${[...excluded, ...lists].join(' ')}`
  run('sh', ['-c', script], { cwd: root })
  const dpkg = join(root, 'etc', 'dpkg', 'dpkg.cfg.d', 'docker')
  appendFileSync(dpkg, excluded.map(path => `path-exclude /${path}\n`).join(''))
}

function copy(text: string, root: string, workFolder: string) {
  const [, from, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(text) ?? []
  const names = paths.split(' ')
  const last = names.pop()!
  const target = join(root, resolve(workFolder, last))
  const isFolder = /[/.]$/.test(last)
  mkdirSync(isFolder ? target : dirname(target), { recursive: true })
  for (const name of names) {
    const source = join(from ? roots.get(from)! : context, name)
    // The content of a folder is copied rather than the folder.
    const isSourceFolder = run('stat', ['--format=%F', source]).startsWith('directory')
    run('cp', [
      '-a',
      isSourceFolder ? `${source}/.` : source,
      isSourceFolder ? `${target}/` : target,
    ])
  }
}

function entrypoint(): string[] {
  return JSON.parse(String(settings.ENTRYPOINT))
}

/** Starts the image as an engine does, apart from its port, until it has sent the first page of a book. */
async function start(name: string, user: { uid: number; home: string }, more: object) {
  await writeLibrary(join(image, 'books'))
  const port = String(await freePort())
  const variables = { ...settings.variables, ...more, STACKROOM_APPLICATION__PORT: port }
  const command: string[] = [...entrypoint(), ...JSON.parse(String(settings.CMD))]
  const sandbox = await openSandbox(image)
  try {
    await sandbox.protect(['/tmp', '/data'])
    const began = performance.now()
    const server = sandbox.launch([...command, '--library', '/books'], { user, variables })
    const base = `http://127.0.0.1:${port}`
    await untilServed(base, server)
    const healthSeconds = secondsSince(began)
    await readFirstPage(base)
    const firstPageSeconds = secondsSince(began)
    await checkHealth(sandbox, { user, variables })
    const images = await checkFormats(base)
    const ended = performance.now()
    server.kill('SIGTERM')
    const exitCode = await server.exit
    const stopSeconds = secondsSince(ended)
    const dataOwner = run('stat', ['--format=%u:%g', join(image, 'data', 'stackroom.keys')]).trim()
    print({
      start: name,
      images,
      healthSeconds,
      firstPageSeconds,
      stopSeconds,
      exitCode,
      dataOwner,
    })
    if (exitCode !== 0) throw new Error(server.output().slice(-2_000))
  } finally {
    await sandbox.close()
  }
}

/** Images of all formats are decoded and scaled; returns how many checks passed. */
async function checkFormats(base: string): Promise<number> {
  const checks = createChecks()
  const client = await signIn(base)
  await checkImages(checks, client, await scannedBooks(client))
  if (checks.failures.length > 0) throw new Error(checks.failures.join('\n'))
  return checks.passed()
}

/** Starts the image, which has no npm, with a data directory of an older PostgreSQL. */
async function upgrade(major: string) {
  const data = join(image, 'data')
  rmSync(data, { recursive: true })
  const accounts = await writePrevious(data, major, folder)
  run('chown', ['-R', `${owner.uid}:${owner.uid}`, data])
  const options = { user: owner, variables: settings.variables }
  const sandbox = await openSandbox(image)
  try {
    await sandbox.protect(['/tmp', '/data'])
    const began = performance.now()
    const output = await sandbox.run([...entrypoint(), 'user', 'list', '--json'], options)
    checkUpgraded(data, { major, output, accounts })
    print({ upgrade: `PostgreSQL ${major}`, accounts, seconds: secondsSince(began) })
  } finally {
    await sandbox.close()
  }
}

async function checkHealth(sandbox: Sandbox, options: Parameters<Sandbox['run']>[1]) {
  const [, command] = /CMD (\[.*\])/.exec(String(settings.HEALTHCHECK)) ?? []
  await sandbox.run(JSON.parse(command!), options)
}

function sizes(root: string): Record<string, number> {
  const parents = ['', 'opt/stackroom', 'opt/stackroom/node_modules', 'usr', 'usr/local']
  const folders = parents.flatMap(parent =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(entry => join(parent, entry.name)),
  )
  const all = folders.map(path => [path, megabytes(join(root, path))] as const)
  return Object.fromEntries(all.filter(([, size]) => size >= 5).sort(([, a], [, b]) => b - a))
}

function megabytes(path: string): number {
  return Math.round(Number(run('du', ['-sk', path]).split('\t')[0]) / 1024)
}

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10
}
