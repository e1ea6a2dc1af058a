// Invariants of the release ledger: the history of every release ends with its current state, and aliases
// have the keys used for matching releases.
import { aliasKey } from '../../lib/releases/aliases.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { createViolations, type DoctorScope, type Invariant, violationQuery } from './invariant.ts'

const withoutHistory = ({ sql }: Pick<DoctorScope, 'sql'>) => sql`
  select r.id, c.to_state as last, r.state, r.external_release_id || ' (' || r.id || ')' as note
  from release r
  left join lateral (
    select to_state from release_change where release_id = r.id order by id desc limit 1
  ) c on true
  where c.to_state is distinct from r.state`

/** Batches of the aliases whose key differs. */
async function* staleAliases(sql: Sql) {
  const aliases = sql<{ id: string; alias: string; key: string }[]>`
    select id, alias, alias_key as key from series_alias`
  for await (const batch of aliases.cursor(2_000))
    yield batch.filter(({ alias, key }) => aliasKey(alias) !== key)
}

export const releaseInvariants: Invariant[] = [
  {
    name: 'history of releases',
    description: 'The last state in the history of a release is its current state.',
    check: violationQuery(({ sql }) => sql`select note from (${withoutHistory({ sql })}) wrong`),
    async repair({ sql }) {
      await sql`
        insert into release_change (release_id, from_state, to_state, reason)
        select id, last, state, 'announced' from (${withoutHistory({ sql })}) wrong`
    },
  },
  {
    name: 'keys of aliases',
    description: 'Every alias of a series has the key that is used for matching releases.',
    async check({ sql }) {
      const { violations, add } = createViolations()
      for await (const stale of staleAliases(sql)) for (const { alias } of stale) add(alias)
      return violations
    },
    async repair({ sql }) {
      for await (const stale of staleAliases(sql)) {
        const rows = stale.map(({ id, alias }) => ({ id, key: aliasKey(alias) }))
        await sql`
          update series_alias a set alias_key = r.key
          from jsonb_to_recordset(${sql.json(rows)}) as r(id uuid, key text)
          where a.id = r.id`
      }
    },
  },
]
