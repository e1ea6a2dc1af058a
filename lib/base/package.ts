// Folder of the installed package, and where its programs are: TypeScript in a checkout, compiled in an npm package.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Where package.json lies. Compiled modules are bundled, so that they know no fixed way to it. */
export const packageFolder = findPackage(import.meta.dirname)
/** Whether this is an npm package, made by deploy/package/build.ts. */
export const isCompiled = import.meta.filename.endsWith('.js')
/** Folder of what an npm package has in place of sources. */
export const compiledFolder = join(packageFolder, 'dist')

/** File of a module that a thread or another process runs; `name` is its path in a checkout, without `.ts`. */
export const programFile = (name: string): string =>
  isCompiled ? join(compiledFolder, `${name}.js`) : join(packageFolder, `${name}.ts`)

function findPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findPackage(dirname(folder))
}
