// The cells: each value of each axis at least once, and the pairs that have failed or are likely to.
import type { Version } from './databases.ts'
import type { NodeName } from './node.ts'
import type { Suite } from './roots.ts'
import type { Way } from './ways.ts'

export type Account = 'root' | 'ordinary' | 'unknown' | 'read-only' | '1 GB'
export type Cell = {
  suite: Suite
  node: NodeName
  /** The bundled server, or the version of an external one. */
  postgres: 'bundled' | Version
  account: Account
  /** Whether the npm cache is empty, so that megabytes and seconds match a new machine. */
  cold?: true
  way?: Way
  /** Test files that run as well, with `npm test`. */
  tests?: string[]
}

const cold = true

export const cells: Cell[] = [
  { suite: 'bookworm', node: '22.18', postgres: 'bundled', account: 'ordinary', cold },
  { suite: 'trixie', node: '22.18', postgres: '14', account: 'ordinary' },
  { suite: 'bookworm', node: '20', postgres: 'bundled', account: 'ordinary', cold },
  { suite: 'trixie', node: 'debian', postgres: 'bundled', account: 'root', cold },
  { suite: 'trixie', node: '22', postgres: 'bundled', account: 'root', cold },
  { suite: 'trixie', node: '24', postgres: 'bundled', account: 'root', cold },
  { suite: 'bookworm', node: 'newest', postgres: 'bundled', account: 'ordinary', cold },
  ...(['20', '22.18', '24', 'newest'] as const).map(
    (node): Cell => ({
      ...{ suite: 'bookworm', node, postgres: 'bundled', account: 'ordinary' },
      way: 'package',
      cold,
    }),
  ),
  ...(['20', '22', 'newest'] as const).map(
    (node): Cell => ({
      ...{ suite: 'trixie', node, postgres: 'bundled', account: 'ordinary' },
      way: 'global',
    }),
  ),
  { suite: 'bookworm', node: '22', postgres: '15', account: 'root' },
  { suite: 'bookworm', node: '24', postgres: '16', account: 'unknown' },
  { suite: 'trixie', node: '24', postgres: '17', account: 'ordinary' },
  { suite: 'trixie', node: 'newest', postgres: '18', account: 'root' },
  { suite: 'trixie', node: '22', postgres: 'bundled', account: 'unknown' },
  { suite: 'bookworm', node: '20', postgres: '14', account: 'unknown' },
  { suite: 'trixie', node: '24', postgres: 'bundled', account: 'read-only' },
  { suite: 'bookworm', node: '22.18', postgres: '14', account: 'read-only' },
  { suite: 'trixie', node: '24', postgres: 'bundled', account: '1 GB' },
  { suite: 'bookworm', node: '22.18', postgres: 'bundled', account: '1 GB' },
  { suite: 'trixie', node: 'debian', postgres: '17', account: 'ordinary' },
  { suite: 'bookworm', node: 'newest', postgres: '14', account: 'ordinary' },
  {
    ...{ suite: 'trixie', node: '22.18', postgres: 'bundled', account: 'ordinary' },
    tests: ['test/cmd/serve.test.ts', 'test/store/event/prune.test.ts'],
  },
]

export const cellName = ({ suite, node, postgres, account, way, tests }: Cell): string => {
  const more = [...(way ? [way] : []), ...(tests ? ['tests'] : [])]
  return [suite, `node ${node}`, `postgres ${postgres}`, account, ...more].join(', ')
}
