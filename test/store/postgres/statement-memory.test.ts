// Memory that statements retain from their callers.
import { setImmediate as otherEvents } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createDatabase } from '../../kit/db.ts'

const { sql } = await createDatabase(t)

t.test('a statement does not hold the variables of the function that ran it first', async t => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  async function read() {
    const table = { rows: new Uint32Array(1_000) }
    const refresh = async () => await sql`select ${table.rows.length}::integer as count, 'first'`
    t.equal((await refresh())[0]!.count, 1_000)
    return new WeakRef(table)
  }
  const table = await read()
  for (let i = 0; i < 10 && table.deref(); i++) {
    await otherEvents()
    collect()
  }
  t.equal(table.deref(), undefined)
})
