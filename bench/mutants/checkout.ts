// A copy of the checkout in which faults are planted, and its tests.
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { sharedPath } from '../../test/kit/shared.ts'

export type Outcome = 'passed' | 'failed' | 'timeout'
export type Checkout = ReturnType<typeof copyCheckout>

const projectRoot = join(import.meta.dirname, '..', '..')
const flags = ['--disable-warning=ExperimentalWarning']

/** Copies all tracked files below `parent`; the copy shares this checkout's packages and what lies beside it. */
export function copyCheckout(parent: string) {
  rmSync(parent, { recursive: true, force: true })
  const folder = join(parent, 'checkout')
  const listed = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: projectRoot, encoding: 'utf8' },
  )
  const tracked = listed.stdout
    .split('\0')
    .filter(file => file && existsSync(join(projectRoot, file)))
  for (const file of tracked) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(projectRoot, file), join(folder, file))
  }
  for (const packages of ['node_modules', 'cmd/node/node_modules'])
    symlinkSync(join(projectRoot, packages), join(folder, packages))
  const shared = sharedPath('')
  if (shared !== null) symlinkSync(shared, join(parent, 'shared'))
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [...flags, ...args], { cwd: folder, encoding: 'utf8' })
  // Not tracked, but needed by the types.
  run('test/kit/generate/client.ts')
  return {
    folder,
    modules: tracked.filter(file => file.endsWith('.ts')),
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    /** Starts the database of the tests, or leaves it running. */
    startDatabase: () => run('test/kit/before.ts'),
    runTest: (file: string, seconds: number) => runTest(folder, file, seconds),
    /** Whether a promise in the file is not waited for, as `npm run check` notices. */
    hasFloatingPromise: (file: string) =>
      spawnSync(
        'npx',
        ['oxlint', '--type-aware', '--quiet', '-A', 'all', '-D', floatingPromises, file],
        { cwd: folder, encoding: 'utf8' },
      ).status !== 0,
    /** Whether the types of the whole checkout are right. */
    hasRightTypes: () =>
      spawnSync('npm', ['run', '--silent', 'tsc'], { cwd: folder, encoding: 'utf8' }).status === 0,
    close() {
      run('test/kit/after.ts')
      rmSync(parent, { recursive: true, force: true })
    },
  }
}

const floatingPromises = 'typescript/no-floating-promises'

/** One test file in a process of its own, up to its first failure. */
function runTest(folder: string, file: string, seconds: number): Promise<Outcome> {
  const child = spawn(process.execPath, [...flags, 'test/kit/suite/run.ts', file], {
    cwd: folder,
    stdio: 'ignore',
    // A group of its own, to end what it has started.
    detached: true,
    env: { ...process.env, TAP_BAIL: '1' },
  })
  return new Promise(resolve => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      endGroup(child.pid!)
    }, seconds * 1_000)
    child.on('exit', status => {
      clearTimeout(timer)
      endGroup(child.pid!)
      resolve(isLate ? 'timeout' : status === 0 ? 'passed' : 'failed')
    })
  })
}

function endGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // There is none left.
  }
}
