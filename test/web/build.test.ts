// Build of the web application: stored until a source changes, and the behavior without esbuild.
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectRoot } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'

const onUnstored = (error: unknown) => t.fail('stored', { error })

/** A copy of the sources, which may be changed, outside of the repository with its packages. */
async function checkout(t: Test) {
  const folder = temporaryFolder(t)
  for (const path of ['lib', 'package.json'])
    cpSync(join(projectRoot, path), join(folder, path), { recursive: true })
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(projectRoot, 'node_modules')))
    if (!/esbuild$/.test(name))
      symlinkSync(join(projectRoot, 'node_modules', name), join(packages, name))
  // A link would lead to the packages of this repository.
  cpSync(join(projectRoot, 'node_modules', 'esbuild'), join(packages, 'esbuild'), {
    recursive: true,
  })
  symlinkSync(join(projectRoot, 'node_modules', '@esbuild'), join(packages, '@esbuild'))
  const cache = join(folder, 'cache')
  const { currentBuild } = (await import(
    join(folder, 'lib', 'web', 'build-cache.ts')
  )) as typeof import('../../lib/web/build-cache.ts')
  return { folder, cache, packages, currentBuild }
}

t.test('a build is stored until a source changes', async t => {
  const { folder, cache, packages, currentBuild } = await checkout(t)
  const build = await currentBuild({ folder: cache, onUnstored })
  t.ok(build.assets.get('main.js')!.plain.length > 1_000)
  t.ok(build.initialModules.includes('main.js'))
  t.equal(readdirSync(cache).length, 1)
  rmSync(join(packages, '@esbuild'))
  const stored = await currentBuild({ folder: cache, onUnstored })
  t.equal(stored.digest, build.digest, 'nothing is built again')
  writeFileSync(join(folder, 'lib/web/app/styles/base.css'), 'body { margin: 1px }')
  await t.rejects(currentBuild({ folder: cache, onUnstored }), /cannot be built/, 'now it is')
})

t.test(
  'without a package that builds it the error names it, and the command that helps',
  async t => {
    for (const [removed, named] of [
      ['@esbuild', '@esbuild/'],
      ['esbuild', 'esbuild'],
      ['preact', 'preact'],
      ['openapi-fetch', 'openapi-fetch'],
    ] as const) {
      const { cache, packages, currentBuild } = await checkout(t)
      rmSync(join(packages, removed), { recursive: true })
      const error: Error = await currentBuild({ folder: cache, onUnstored }).catch(error => error)
      const start = `The web application cannot be built without the package ${named}`
      t.equal(error.message.slice(0, start.length), start)
      t.match(
        error.message,
        /[\w/-]: run npm ci --include=dev --include=optional$/,
        'in one sentence',
      )
    }
  },
)
