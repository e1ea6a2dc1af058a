// Packages of npm, unpacked in the work folder without their install scripts.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Host, run } from './host.ts'

/** The newest version of a line such as `22` or `22.18`; pre-releases count where there is nothing else. */
export function newestVersion({ registry }: Host, name: string, line: string): string {
  const options = ['--json', ...(registry ? ['--registry', registry] : [])]
  const versions: string[] = JSON.parse(run('npm', ['view', name, 'versions', ...options]))
  const inLine = versions.filter(
    version => line === '' || version.startsWith(`${line}.`) || version === line,
  )
  const stable = inLine.filter(version => !version.includes('-'))
  const order = new Intl.Collator('en', { numeric: true })
  const newest = (stable.length > 0 ? stable : inLine).sort(order.compare).at(-1)
  if (newest === undefined) throw new Error(`There is no ${name} ${line}`)
  return newest
}

/** Returns the folder with the content of the package. */
export function unpackPackage(host: Host, work: string, name: string, version: string): string {
  const folder = join(work, 'packages', `${name.replace('/', '+')}-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(join(work, 'packages'), { recursive: true })
  const part = mkdtempSync(join(work, 'packages', '.part-'))
  const options = ['--json', '--pack-destination', part]
  if (host.registry) options.push('--registry', host.registry)
  run('npm', ['pack', `${name}@${version}`, ...options])
  run('sh', ['-c', 'tar -xzf "$0"/*.tgz -C "$0" --no-same-owner', part])
  renameSync(join(part, 'package'), folder)
  rmSync(part, { recursive: true })
  return folder
}
