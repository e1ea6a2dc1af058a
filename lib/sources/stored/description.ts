// What a source states about itself: its description, and its lists of releases.
import { newId } from '../../base/id.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import type { ReleaseSourceDescription, SourceDescription } from '../contract.ts'

type Registration = {
  lists: readonly ReleaseSourceDescription[]
  /** For new lists; known ones are unchanged. */
  isEnabled: boolean
}

/** To be called in the transaction of the change. Lists that the source no longer has are deleted if they have no releases, otherwise disabled. */
export async function registerReleaseSources(
  tx: Queryable,
  sourceId: string,
  { lists, isEnabled }: Registration,
): Promise<void> {
  const rows = lists.map(list => ({ ...list, id: newId() }))
  await tx`
    insert into release_source (id, source_id, key, kind, display_name, enabled)
    select r.id, ${sourceId}, r.key, r.kind, r."displayName", ${isEnabled}
    from jsonb_to_recordset(${tx.json(rows)}) as r(id uuid, key text, kind text, "displayName" text)
    on conflict (source_id, key) do update set kind = excluded.kind
      where release_source.kind <> excluded.kind`
  const keys = lists.map(list => list.key)
  await tx`
    update release_source set enabled = false, updated_at = now()
    where source_id = ${sourceId} and key <> all(${keys}) and enabled`
  await tx`
    delete from release_source r
    where r.source_id = ${sourceId} and r.key <> all(${keys})
      and not exists (select from release e where e.source_id = r.id)`
}

/** Stores what `describe` returned. */
export async function storeDescription(sql: Sql, sourceId: string, description: SourceDescription) {
  await sql.begin(async tx => {
    const { count } = await tx`
      update source set description = ${tx.json(description as never)} where id = ${sourceId}`
    if (count === 0) return
    const lists = description.releaseSources
    await registerReleaseSources(tx, sourceId, { lists, isEnabled: false })
  })
}
