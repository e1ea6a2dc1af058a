// The two addresses of the administration of sources: all of them, and those that are plugins.

import type { Deps } from '../../http/deps.ts'
import { type Source, sourceById, type TypeFilter } from '../stored/source.ts'

export type Address = {
  path: string
  /** Part of operation ids. */
  noun: 'Source' | 'Plugin'
  thing: string
  type: TypeFilter
}

export const addresses: readonly Address[] = [
  { path: '/admin/sources', noun: 'Source', thing: 'source', type: null },
  { path: '/admin/plugins', noun: 'Plugin', thing: 'plugin', type: 'plugin' },
]

/** Throws NotFound, also for a source that this address does not have. */
export const requireSource = (deps: Deps, { type }: Address, id: string): Promise<Source> =>
  sourceById(deps, id, type)
