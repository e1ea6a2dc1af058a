// Folder of plugins: commands installed by a server administrator. Requests can only name them.
import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const entryPattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$'
const entryName = new RegExp(entryPattern)
const moduleName = /\.(?:mjs|cjs|js|mts|cts|ts)$/
/** Name of the program in a plugin's folder. */
const programName = 'plugin'

/** Names of the plugins in a folder; none if it cannot be read. */
export function listPlugins(folder: string | null): string[] {
  if (folder === null) return []
  try {
    const names = readdirSync(folder).filter(name => commandOf(folder, name) !== null)
    return names.sort()
  } catch {
    return []
  }
}

/** Program and arguments of the plugin with this name; null if there is none. */
export function commandOf(folder: string | null, name: string): string[] | null {
  if (folder === null || !entryName.test(name)) return null
  const path = join(folder, name)
  try {
    const program = statSync(path).isDirectory() ? join(path, programName) : path
    if (!statSync(program).isFile()) return null
    // Modules run on the server's Node.js.
    if (moduleName.test(program)) return [process.execPath, program]
    accessSync(program, constants.X_OK)
    return [program]
  } catch {
    return null
  }
}

/** Also needed for `#!/usr/bin/env node`. */
export const searchPath = [
  dirname(process.execPath),
  ...'/usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin'.split(' '),
].join(process.platform === 'win32' ? ';' : ':')
