// Metadata and release sources set up by an administrator. Credentials are never part of a record.
import { Invalid, NotFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  component,
  json,
  list,
  nullable,
  oneOf,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { metadataSources } from '../../media/metadata/metadata.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import { nameTaken } from '../../store/postgres/name-taken.ts'
import { lockSecrets } from '../../store/secret/stored.ts'
import {
  missingMessage,
  type Sources,
  type SourceTypeName,
  sourceTypes,
  type TypedRow,
} from '../open.ts'
import { registerReleaseSources } from './description.ts'

export const HealthState = oneOf(['disabled', 'healthy', 'degraded', 'unhealthy'], {
  component: 'SourceHealthState',
  description: 'degraded after a failure, unhealthy after three without a success.',
})

export const Source = component('Source', {
  id: uuid(),
  type: oneOf(sourceTypes),
  name: Type.String({ description: 'Name of the source in external ids and provenance.' }),
  displayName: Type.String(),
  config: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: 'Settings, which depend on the type.',
  }),
  credentialNames: list(Type.String(), { description: 'Names of the stored credentials.' }),
  unreadableCredentials: list(Type.String(), {
    description:
      'Names of credentials encrypted with a key that the server does not have. The source is not called until they are entered again.',
  }),
  enabled: Type.Boolean(),
  description: json({
    description: 'The most recent description by the source; null before the first.',
  }),
  health: HealthState,
  failures: Type.Integer({ description: 'Failures since the last success.' }),
  lastError: nullable(Type.String()),
  lastErrorAt: nullable(timestamp()),
  retryAt: nullable(timestamp({ description: 'The source is not called before this time.' })),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type Source = Static<typeof Source>

/** Null for any type. */
export type TypeFilter = SourceTypeName | null

const maxSources = 200
export const unhealthyFailures = 3

const columns = (sql: Queryable) => sql`
  s.id, s.type, s.name, s.display_name as "displayName", s.config,
  s.credentials, s.enabled,
  s.description,
  case when not s.enabled then 'disabled' when s.failures = 0 then 'healthy'
    when s.failures < ${unhealthyFailures} then 'degraded' else 'unhealthy' end as health,
  s.failures, s.last_error as "lastError", s.last_error_at as "lastErrorAt",
  case when s.retry_at > now() then s.retry_at end as "retryAt",
  s.created_at as "createdAt", s.updated_at as "updatedAt"`

const ofType = (sql: Queryable, type: TypeFilter) =>
  type === null ? sql`true` : sql`s.type = ${type}`

type Context = { sql: Queryable; sources: Sources }
type Row = Omit<Source, 'credentialNames' | 'unreadableCredentials'> & {
  credentials: Record<string, string>
}

/** Sorted by display name. */
export async function listSources(context: Context, type: TypeFilter): Promise<Source[]> {
  const { sql } = context
  const rows = await sql<Row[]>`
    select ${columns(sql)} from source s where ${ofType(sql, type)}
    order by lower(s.display_name), s.id`
  return rows.map(row => sourceOf(context, row))
}

/** Throws NotFound. */
export async function sourceById(
  context: Context,
  id: string,
  type: TypeFilter = null,
): Promise<Source> {
  const { sql } = context
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from source s where s.id = ${id} and ${ofType(sql, type)}`
  if (!row) throw new NotFound('Source not found')
  return sourceOf(context, row)
}

function sourceOf({ sources }: Context, { credentials: sealed, ...row }: Row): Source {
  const { credentials, unreadable } = sources.unseal({ id: row.id, credentials: sealed })
  const names = {
    credentialNames: Object.keys(credentials).sort(),
    unreadableCredentials: unreadable.sort(),
  }
  if (unreadable.length === 0) return { ...row, ...names }
  const health = row.enabled ? 'unhealthy' : row.health
  return { ...row, ...names, health, lastError: missingMessage(row, unreadable) }
}

/** A source with everything that a call needs. Throws NotFound. */
export type StoredSource = TypedRow & { enabled: boolean; failures: number; retryAt: Date | null }

const storedColumns = (sql: Queryable) => sql`
  s.id, s.type, s.name, s.display_name as "displayName", s.config, s.credentials, s.enabled,
  s.description, s.failures, case when s.retry_at > now() then s.retry_at end as "retryAt"`

export async function storedSource(sql: Queryable, id: string): Promise<StoredSource> {
  const [source] = await sql<StoredSource[]>`
    select ${storedColumns(sql)} from source s where s.id = ${id}`
  if (!source) throw new NotFound('Source not found')
  return source
}

/** Enabled sources by name. */
export async function enabledSources(sql: Queryable): Promise<StoredSource[]> {
  const rows = await sql<StoredSource[]>`
    select ${storedColumns(sql)} from source s where s.enabled order by s.name`
  return [...rows]
}

export type NewSource = {
  type: SourceTypeName
  name: string
  displayName: string
  config: Record<string, unknown>
  credentials: Record<string, string>
  enabled: boolean
}

type WriteContext = { sql: Sql; sources: Sources }

/** Origins of values and covers that are not a source's; a match with one of these names would replace them. */
const reservedNames = new Set<string>([...metadataSources, 'embedded', 'custom'])

/** Throws Invalid, and Conflict for a duplicate name. */
export async function createSource({ sql, sources }: WriteContext, source: NewSource) {
  if (reservedNames.has(source.name))
    throw new Invalid('body/name is reserved for files, users and their covers')
  const name = source.type === 'plugin' ? `plugin:${source.name}` : source.name
  sources.checkConfig(source)
  const id = newId()
  await sql.begin(async tx => {
    await lockSecrets(tx)
    const credentials = sources.seal(id, source.credentials)
    await tx`
      insert into source (id, type, name, display_name, config, credentials, enabled)
      values (${id}, ${source.type}, ${name}, ${source.displayName}, ${tx.json(source.config as never)},
        ${tx.json(credentials)}, ${source.enabled})`.catch(rethrowTaken)
    const [row] = await tx<{ count: number }[]>`select count(*)::integer as count from source`
    if (row!.count > maxSources)
      throw new Invalid(`The limit is ${maxSources} sources`, { limit: maxSources })
    await registerKnown(tx, sources, id)
  })
  return id
}

type Credentials = Record<string, string>
export type SourceChange = {
  displayName?: string
  config?: Record<string, unknown>
  /** Null removes one; absent ones are unchanged. */
  credentials?: Record<string, string | null>
  enabled?: boolean
}

/** Throws NotFound and Invalid. A new configuration resets earlier failures. */
export async function changeSource(
  { sql, sources }: WriteContext,
  id: string,
  change: SourceChange,
): Promise<void> {
  await sql.begin(async tx => {
    await lockSecrets(tx)
    await tx`select 1 from source where id = ${id} for no key update`
    const before = await storedSource(tx, id)
    const entries = Object.entries(change.credentials ?? {})
    const added = Object.fromEntries(entries.filter(([, value]) => value !== null)) as Credentials
    const changed = new Set(entries.map(([name]) => name))
    const others = (credentials: Credentials) =>
      Object.fromEntries(Object.entries(credentials).filter(([name]) => !changed.has(name)))
    const sealed = { ...others(before.credentials), ...sources.seal(id, added) }
    const credentials = { ...others(sources.unseal(before).credentials), ...added }
    const config = change.config ?? before.config
    const isChanged = change.config !== undefined || change.credentials !== undefined
    if (isChanged) sources.checkConfig({ ...before, config, credentials })
    await tx`
      update source set display_name = ${change.displayName ?? before.displayName},
        config = ${tx.json(config as never)}, credentials = ${tx.json(sealed)},
        enabled = ${change.enabled ?? before.enabled},
        ${isChanged ? tx`failures = 0, retry_at = null,` : tx``} updated_at = now()
      where id = ${id}`
    await registerKnown(tx, sources, id)
  })
}

/** Resets failures and backoff, so that the source is called again at once. Throws NotFound. */
export async function resetSource(sql: Queryable, id: string): Promise<void> {
  const { count } = await sql`
    update source set failures = 0, last_error = null, last_error_at = null, retry_at = null
    where id = ${id}`
  if (count === 0) throw new NotFound('Source not found')
}

/** Also deletes its lists of releases and their releases. External ids it provided stay. Throws NotFound. */
export async function deleteSource(sql: Queryable, id: string): Promise<void> {
  const { count } = await sql`delete from source where id = ${id}`
  if (count === 0) throw new NotFound('Source not found')
}

async function registerKnown(tx: Queryable, sources: Sources, id: string) {
  const known = sources.releaseSources(await storedSource(tx, id))
  if (known !== null) await registerReleaseSources(tx, id, { lists: known, isEnabled: true })
}

const rethrowTaken = nameTaken('source_name_unique', 'A source with this name already exists')
