// Compiles what an npm package contains in place of sources (npm pack runs it): Node.js strips no types below
// node_modules. Modules are bundled with what they share in chunks, because one file loads faster than hundreds.
// node cmd/node/run.mjs deploy/package/build.ts [FOLDER, by default dist]
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compiledFolder, packageFolder } from '../../lib/base/package.ts'
import { buildForPackage } from '../../lib/web/build-cache.ts'

const { build } = await import('esbuild').catch(() => {
  process.stderr.write('npm pack needs the development packages: run npm ci --include=dev\n')
  process.exit(2)
})
const target = process.argv[2] ?? compiledFolder
const folders = ['cmd', 'lib', 'pipeline']
/** Builds the web application, which a package brings built. */
const unused = 'lib/web/build-process'

await rm(target, { recursive: true, force: true })
await build({
  entryPoints: ['cmd/main', ...(await programs())].map(name => `${name}.ts`),
  absWorkingDir: packageFolder,
  outbase: '.',
  outdir: target,
  bundle: true,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node22.18',
  packages: 'external',
  legalComments: 'none',
})
await writeFile(join(target, 'web.build'), await buildForPackage())

/** Modules that `programFile` names: they run in threads and processes of their own. */
async function programs(): Promise<string[]> {
  const names = new Set<string>()
  for (const folder of folders) {
    const entries = await readdir(join(packageFolder, folder), {
      recursive: true,
      withFileTypes: true,
    })
    for (const entry of entries) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8')
      for (const [, name] of text.matchAll(/\bprogramFile\('([^']+)'\)/g)) names.add(name!)
    }
  }
  names.delete(unused)
  return [...names].sort()
}
