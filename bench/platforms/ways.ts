// Ways to install: README's commands in a clone, or the npm package of the last commit in an empty folder or globally.
import { join } from 'node:path'
import { type Host, run, temporaryFolder } from './host.ts'

export type Way = 'clone' | 'package' | 'global'

const checkout = join(import.meta.dirname, '..', '..')
const tarball = 'stackroom.tgz'
// docs/install.md: where npm's own folder for global packages belongs to root.
const globalPrefix = '"$HOME/.local"'

/** Shell commands, run in the folder of the installation. */
export const ways: Record<Way, { install: string; start: string; program: string }> = {
  clone: { install: 'npm ci', start: 'npm start --', program: 'node cmd/stackroom.mjs' },
  package: {
    install: `npm install ./${tarball}`,
    start: 'npx stackroom serve',
    program: 'npx stackroom',
  },
  global: {
    install: `npm install --global --prefix ${globalPrefix} ./${tarball}`,
    start: `${globalPrefix}/bin/stackroom serve`,
    program: `${globalPrefix}/bin/stackroom`,
  },
}

/** Makes the folder of the installation in a clean root. */
export function fillFolder(way: Way, folder: string, work: string, host: Host): void {
  if (way === 'clone') {
    clone(folder)
    return
  }
  run('mkdir', ['-p', folder])
  packed ??= pack(work, host)
  run('cp', [packed, join(folder, tarball)])
}

let packed: string | undefined

function pack(work: string, { registry }: Host): string {
  const source = join(temporaryFolder(work), 'source')
  clone(source)
  run('ln', ['-s', join(checkout, 'node_modules'), join(source, 'node_modules')])
  const options = registry ? ['--registry', registry] : []
  return join(source, run('npm', ['pack', '--silent', ...options], { cwd: source }).trim())
}

const clone = (folder: string) => run('git', ['clone', '--quiet', checkout, folder])
