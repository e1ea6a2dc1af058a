// Look-ups by id that come while another is under way go to the database together, as one statement: a
// screen full of covers is asked for at once.
import type { Sql } from 'postgres'
import type { Viewer } from '../auth/viewer.ts'

type Rows<T> = ReadonlyMap<string, T>
type Group<T> = { ids: Set<string>; rows: Promise<Rows<T>>; hasBegun: boolean }

/** `ask` finds what a viewer sees of some ids; what it does not answer is undefined. */
export function gathered<T>(
  ask: (sql: Sql, viewer: Viewer, ids: string[]) => Promise<Rows<T>>,
): (sql: Sql, viewer: Viewer, id: string) => Promise<T | undefined> {
  // By the very object: another one, even an equal one, may be another account's or newer.
  const latest = new WeakMap<Viewer, Group<T>>()
  const begin = (sql: Sql, viewer: Viewer): Group<T> => {
    const before = latest.get(viewer)?.rows
    const group: Group<T> = { ids: new Set(), rows: null as never, hasBegun: false }
    group.rows = (async () => {
      // What was asked before may have been answered by rows older than this question.
      await (before ? before.catch(() => {}) : new Promise(resolve => setImmediate(resolve)))
      group.hasBegun = true
      try {
        return await ask(sql, viewer, [...group.ids])
      } finally {
        if (latest.get(viewer) === group) latest.delete(viewer)
      }
    })()
    latest.set(viewer, group)
    return group
  }
  return async (sql, viewer, id) => {
    const known = latest.get(viewer)
    const group = known && !known.hasBegun ? known : begin(sql, viewer)
    group.ids.add(id)
    return (await group.rows).get(id)
  }
}
