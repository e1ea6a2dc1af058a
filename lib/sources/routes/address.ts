// The two paths of source administration: all sources, and only those that are plugins.

import type { Deps } from '../../http/deps.ts'
import { type Source, sourceById, type TypeFilter } from '../stored/source.ts'

export type Address = {
  path: string
  /** Used in operation ids. */
  noun: 'Source' | 'Plugin'
  thing: string
  type: TypeFilter
}

export const addresses: readonly Address[] = [
  { path: '/admin/sources', noun: 'Source', thing: 'source', type: null },
  { path: '/admin/plugins', noun: 'Plugin', thing: 'plugin', type: 'plugin' },
]

/** Throws NotFound, also for a source that does not belong to this path. */
export const requireSource = (deps: Deps, { type }: Address, id: string): Promise<Source> =>
  sourceById(deps, id, type)
