// Clean roots: minimal Debian systems, and copies of them with a Node.js, stored in the work folder.
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { debianMirror, type Host, rootCertificates, run } from './host.ts'
import { installNode, type NodeName, nodes } from './node.ts'
import { openSandbox } from './sandbox.ts'

export type Suite = 'bookworm' | 'trixie'

/** A bare system with an ordinary account and the certificates, proxies and name servers of this machine. */
function bareRoot(host: Host, work: string, suite: Suite): string {
  return once(join(work, 'roots', suite), part => {
    run('debootstrap', ['--variant=minbase', suite, part, debianMirror(host)])
    appendFileSync(join(part, 'etc', 'passwd'), 'reader:x:1000:1000::/home/reader:/bin/sh\n')
    appendFileSync(join(part, 'etc', 'group'), 'reader:x:1000:\n')
    run('install', ['-d', '-o', '1000', '-g', '1000', join(part, 'home', 'reader')])
    copyAuthorities(host, part)
    for (const file of ['resolv.conf', 'hosts'])
      copyFileSync(join('/etc', file), join(part, 'etc', file))
    const proxies = run('apt-config', ['dump', 'Acquire::http', 'Acquire::https'])
    writeFileSync(join(part, 'etc', 'apt', 'apt.conf.d', 'host'), proxies)
    // Debian's way to start no service.
    writeFileSync(join(part, 'usr', 'sbin', 'policy-rc.d'), '#!/bin/sh\nexit 101\n', {
      mode: 0o755,
    })
  })
}

/** A bare system with packages of Debian. */
export async function rootWith(
  host: Host,
  work: string,
  suite: Suite,
  packages: readonly string[],
): Promise<string> {
  const bare = bareRoot(host, work, suite)
  if (packages.length === 0) return bare
  const folder = join(work, 'roots', `${suite}+${packages.join('+')}`)
  if (existsSync(folder)) return folder
  const part = `${folder}.part`
  copyRoot(bare, part)
  const sandbox = await openSandbox(part)
  try {
    const variables = { DEBIAN_FRONTEND: 'noninteractive' }
    await sandbox.run(['apt-get', 'update'], { variables })
    const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...packages]
    await sandbox.run(install, { variables })
    await sandbox.run(['apt-get', 'clean'])
  } finally {
    await sandbox.close()
  }
  // The package ca-certificates, which others require, has replaced the file.
  copyAuthorities(host, part)
  renameSync(part, folder)
  return folder
}

function copyAuthorities({ authorities }: Host, root: string): void {
  if (authorities === null) return
  mkdirSync(join(root, 'etc', 'ssl', 'certs'), { recursive: true })
  copyFileSync(authorities, join(root, rootCertificates))
}

/** A new copy in `target` of a system with this Node.js. */
export async function createRoot(
  { host, work, suite, node }: { host: Host; work: string; suite: Suite; node: NodeName },
  target: string,
): Promise<void> {
  copyRoot(await rootWith(host, work, suite, nodes[node].system), target)
  installNode(host, work, target, node)
}

export function copyRoot(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(join(to, '..'), { recursive: true })
  run('cp', ['-a', '--reflink=auto', from, to])
}

/** The folder, made once; a run that was interrupted leaves none. */
function once(folder: string, make: (part: string) => void): string {
  if (existsSync(folder)) return folder
  const part = `${folder}.part`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  make(part)
  renameSync(part, folder)
  return folder
}
