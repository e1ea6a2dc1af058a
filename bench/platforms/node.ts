// Versions of Node.js for clean roots: from the registry of npm with an npm of its time, or Debian's own.
import { copyFileSync, cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Host } from './host.ts'
import { newestVersion, unpackPackage } from './packages.ts'

/** Lines of versions; `''` is the newest of all. */
export const nodes = {
  '20': { node: '20', npm: '10', system: [] },
  '22.18': { node: '22.18', npm: '10', system: [] },
  '22': { node: '22', npm: '10', system: [] },
  '24': { node: '24', npm: '11', system: [] },
  // Its builds are linked to a library that a minimal Debian does not have.
  newest: { node: '', npm: '', system: ['libatomic1'] },
  debian: { node: null, npm: null, system: ['nodejs', 'npm'] },
} as const
export type NodeName = keyof typeof nodes

/** Path of a Node.js of that line, unpacked in the work folder. */
export function unpackNode(host: Host, work: string, line: string): string {
  const name = `node-linux-${process.arch}`
  const folder = unpackPackage(host, work, name, newestVersion(host, name, line))
  return join(folder, 'bin', 'node')
}

/** Copies Node.js and npm to /usr/local of a root; Debian's are installed by its packages. */
export function installNode(host: Host, work: string, root: string, name: NodeName): void {
  const { node, npm } = nodes[name]
  if (node === null) return
  const prefix = join(root, 'usr', 'local')
  mkdirSync(join(prefix, 'lib', 'node_modules'), { recursive: true })
  copyFileSync(unpackNode(host, work, node), join(prefix, 'bin', 'node'))
  const source = unpackPackage(host, work, 'npm', newestVersion(host, 'npm', npm))
  cpSync(source, join(prefix, 'lib', 'node_modules', 'npm'), { recursive: true })
  for (const program of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, join(prefix, 'bin', program))
}
