// Checks that npm installed the optional binary packages that every command reading books needs.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Invalid } from '../lib/base/errors.ts'

/** Throws Invalid: without its binaries sharp would fail in the threads, for each cover and page. */
export function assertInstalled(): void {
  const sharp = import.meta.resolve('sharp')
  const { resolve } = createRequire(sharp)
  const { platform, arch } = process
  const names = [`${platform}-${arch}`, `${platform}musl-${arch}`, 'wasm32']
  const isPackaged = names.some(name => canResolve(resolve, `@img/sharp-${name}/sharp.node`))
  const isBuilt = existsSync(new URL('../src/build', sharp))
  if (isPackaged || isBuilt) return
  throw new Invalid(
    `The binaries of sharp for ${platform} ${arch} are not installed; install Stackroom again without --omit=optional`,
  )
}

function canResolve(resolve: NodeJS.RequireResolve, name: string): boolean {
  try {
    resolve(name)
    return true
  } catch {
    return false
  }
}
