// Filter presets: conditions, search words and sort orders saved by an account under a name.
import type { Fragment } from 'postgres'
import { type Viewer, visibleLibrary } from '../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  component,
  json,
  nullable,
  oneOf,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { requireLibrary } from '../../catalog/library/library.ts'
import { parseBookFilter, parseSeriesFilter } from '../../list/condition.ts'
import type { Queryable, Sql, Transaction } from '../../store/postgres/db.ts'
import { nameTaken } from '../../store/postgres/name-taken.ts'

export const presetScopes = ['list', 'search'] as const
export const presetTargets = ['series', 'books'] as const

export const FilterPreset = component('FilterPreset', {
  id: uuid(),
  name: Type.String(),
  scope: oneOf(presetScopes),
  target: oneOf(presetTargets),
  condition: json({ description: 'Condition as in the body of a filtered list; null for none.' }),
  query: nullable(Type.String()),
  sort: nullable(Type.String()),
  libraryId: nullable(uuid({ description: 'Null for all libraries.' })),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type FilterPreset = Static<typeof FilterPreset>
type PresetTarget = (typeof presetTargets)[number]

/** The values saved by a user. */
export type PresetValues = {
  name: string
  condition: unknown
  query: string | null
  sort: string | null
  libraryId: string | null
}
export type NewPreset = PresetValues & {
  scope: (typeof presetScopes)[number]
  target: PresetTarget
}

/** Per account; a response may contain all of them. */
const maxPresets = 200
const maxConditionBytes = 32 * 1024

type PresetFilter = { scope?: string; target?: string; libraryId?: string }

/** The presets of the viewer by name, except those of hidden libraries. */
export async function listPresets(
  sql: Queryable,
  viewer: Viewer,
  { scope, target, libraryId }: PresetFilter = {},
): Promise<FilterPreset[]> {
  const presets = await sql<FilterPreset[]>`
    select ${columns(sql)} ${fromOwn(sql, viewer)}
      and ${scope ? sql`f.scope = ${scope}` : sql`true`}
      and ${target ? sql`f.target = ${target}` : sql`true`}
      and ${libraryId ? sql`(f.library_id is null or f.library_id = ${libraryId})` : sql`true`}
    order by lower(f.name), f.id`
  return [...presets]
}

/** Throws NotFound. */
export async function presetById(
  sql: Queryable,
  viewer: Viewer,
  id: string,
): Promise<FilterPreset> {
  const [preset] = await sql<FilterPreset[]>`
    select ${columns(sql)} ${fromOwn(sql, viewer)} and f.id = ${id}`
  if (!preset) throw new NotFound('Preset not found')
  return preset
}

/** Throws Invalid for a condition that the target does not support, Conflict for a duplicate name, NotFound for a hidden library. */
export async function createPreset(
  sql: Sql,
  viewer: Viewer,
  preset: NewPreset,
  role: { isAdmin: boolean },
): Promise<FilterPreset> {
  checkCondition(preset.condition, preset.target, role)
  return await sql.begin(async tx => {
    if (preset.libraryId !== null) await requireLibrary(tx, viewer, preset.libraryId)
    await tx`select 1 from account where id = ${viewer.accountId} for no key update`
    const id = newId()
    await tx`
      insert into filter_preset (id, account_id, name, scope, target, condition, query, sort, library_id)
      values (${id}, ${viewer.accountId}, ${preset.name}, ${preset.scope}, ${preset.target},
        ${conditionValue(tx, preset.condition)}, ${preset.query}, ${preset.sort}, ${preset.libraryId})`.catch(
      rethrowTaken,
    )
    const [row] = await tx<{ count: number }[]>`
      select count(*)::integer as count from filter_preset where account_id = ${viewer.accountId}`
    if (row!.count > maxPresets)
      throw new Invalid(`The limit is ${maxPresets} presets`, { limit: maxPresets })
    return await presetById(tx, viewer, id)
  })
}

/** Like `createPreset`; scope and target stay. */
export async function replacePreset(
  sql: Sql,
  viewer: Viewer,
  { id, ...values }: PresetValues & { id: string },
  role: { isAdmin: boolean },
): Promise<FilterPreset> {
  return await sql.begin(async tx => {
    const { target } = await presetById(tx, viewer, id)
    checkCondition(values.condition, target, role)
    if (values.libraryId !== null) await requireLibrary(tx, viewer, values.libraryId)
    await tx`
      update filter_preset
      set name = ${values.name}, condition = ${conditionValue(tx, values.condition)},
        query = ${values.query}, sort = ${values.sort}, library_id = ${values.libraryId},
        updated_at = now()
      where id = ${id}`.catch(rethrowTaken)
    return await presetById(tx, viewer, id)
  })
}

/** Throws NotFound. */
export async function deletePreset(sql: Sql, viewer: Viewer, id: string): Promise<void> {
  const { count } = await sql`
    delete from filter_preset where account_id = ${viewer.accountId} and id = ${id}`
  if (count === 0) throw new NotFound('Preset not found')
}

function checkCondition(condition: unknown, target: PresetTarget, role: { isAdmin: boolean }) {
  if (target === 'books') parseBookFilter(condition)
  else parseSeriesFilter(condition, role)
  if (condition && Buffer.byteLength(JSON.stringify(condition)) > maxConditionBytes)
    throw new Invalid(`condition is larger than ${maxConditionBytes / 1024} KiB`)
}

function conditionValue(tx: Transaction, condition: unknown) {
  return condition === null || condition === undefined ? null : tx.json(condition as never)
}

const rethrowTaken = nameTaken(
  'filter_preset_name_unique',
  'A preset with this name already exists',
)

function fromOwn(sql: Queryable, viewer: Viewer): Fragment {
  return sql`
    from filter_preset f left join library l on l.id = f.library_id
    where f.account_id = ${viewer.accountId}
      and (f.library_id is null or (l.deleting_at is null and ${visibleLibrary(sql, viewer)}))`
}

function columns(sql: Queryable): Fragment {
  return sql`f.id, f.name, f.scope, f.target, f.condition, f.query, f.sort,
    f.library_id as "libraryId", f.created_at as "createdAt", f.updated_at as "updatedAt"`
}
