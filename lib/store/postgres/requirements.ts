// Requirements for an external database, checked once at startup: version, encoding, privileges, connections.
import type { Sql } from 'postgres'
import { Invalid } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'

const minMajorVersion = 14
// The minimum with which all commands work: pool, LISTEN, locks, monitor.
const minConnections = 8
/** Both pools, connections for expensive lists and lookups, LISTEN, locks, monitor. */
const peakConnections = (max: number) => 2 * max + 16

type Facts = {
  version: number
  pid: number
  encoding: string
  isStandby: boolean
  isReadOnly: boolean
  database: string
  role: string
  schema: string | null
  canCreate: boolean
  canUseSchema: boolean | null
  canUseQueue: boolean | null
  foreignTable: string | null
  trigramSchema: string | null
  isTrigramVisible: boolean | null
  isTrigramAvailable: boolean
  roleLimit: number
  databaseLimit: number
  serverLimit: number
}

/** Throws Invalid, with one sentence on what to change, for a database that Stackroom cannot run on. */
export async function checkRequirements(
  open: () => { sql: Sql; close(): Promise<void> },
  { max, log }: { max: number; log?: Log | undefined },
): Promise<void> {
  // Two connections: if both report the same server process, there is a pooler in between.
  const [first, second] = [open(), open()]
  try {
    const facts = await readFacts(first.sql)
    const problem = serverProblem(facts) ?? rightsProblem(facts) ?? connectionsProblem(facts)
    if (problem) throw new Invalid(problem)
    const [row] = await second.sql`select pg_backend_pid() as pid`.simple()
    const [again] = await first.sql`select pg_backend_pid() as pid`.simple()
    if (row!.pid === facts.pid || again!.pid !== facts.pid) throw new Invalid(poolerProblem)
    warnOfFewConnections(facts, max, log)
  } finally {
    await Promise.all([first.close(), second.close()])
  }
}

export const poolerProblem =
  'The database URL leads to a connection pooler that shares connections between clients (such as PgBouncer with ' +
  'pool_mode=transaction); Stackroom needs the direct address of PostgreSQL, or pool_mode=session'

/** One statement without parameters, which also works through a pooler and on servers before 14. */
async function readFacts(sql: Sql): Promise<Facts> {
  const [facts] = await sql<Facts[]>`
      select current_setting('server_version_num')::int as version, pg_backend_pid() as pid,
        current_setting('server_encoding') as encoding, pg_is_in_recovery() as "isStandby",
        current_setting('transaction_read_only') = 'on' as "isReadOnly",
        d.datname as database, r.rolname as role, current_schema() as schema,
        has_database_privilege(d.oid, 'create') as "canCreate",
        has_schema_privilege(current_schema(), 'create')
          and has_schema_privilege(current_schema(), 'usage') as "canUseSchema",
        has_schema_privilege(to_regnamespace('pgboss')::oid, 'create')
          and has_schema_privilege(to_regnamespace('pgboss')::oid, 'usage') as "canUseQueue",
        (select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where (n.nspname = 'pgboss' and c.relkind in ('r', 'p')
              or n.nspname = current_schema() and c.relname in ('schema_migration', 'library', 'book'))
            and not pg_has_role(c.relowner, 'usage')
          limit 1) as "foreignTable",
        t.nspname as "trigramSchema",
        t.nspname = any(current_schemas(true)) as "isTrigramVisible",
        case when t.nspname is not null then true else exists (
          select from pg_available_extensions where name = 'pg_trgm') end as "isTrigramAvailable",
        case when r.rolsuper then -1 else r.rolconnlimit end as "roleLimit",
        case when r.rolsuper then -1 else d.datconnlimit end as "databaseLimit",
        current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0) as "serverLimit"
      from pg_database d join pg_roles r on r.rolname = current_user
      left join (pg_extension e join pg_namespace t on t.oid = e.extnamespace) on e.extname = 'pg_trgm'
      where d.datname = current_database()`.simple()
  return facts!
}

function serverProblem({ version, encoding, isStandby, isReadOnly, database }: Facts) {
  const major = Math.floor(version / 10_000)
  if (major < minMajorVersion)
    return `The database is PostgreSQL ${major}; Stackroom requires ${minMajorVersion} or newer`
  if (encoding !== 'UTF8')
    return (
      `The database "${database}" has the encoding ${encoding}; Stackroom requires UTF8: ` +
      `create it with: create database ${quoted(database)} encoding 'UTF8' template template0`
    )
  if (isStandby)
    return 'The database is a standby, which is read-only; use the address of the primary, or name all hosts and target_session_attrs=read-write in database.url'
  if (isReadOnly)
    return `The database "${database}" is read-only (default_transaction_read_only is on for the server, the database or the role); set it to off`
  return null
}

function rightsProblem(facts: Facts) {
  const { database, schema, canCreate, trigramSchema } = facts
  const role = quoted(facts.role)
  if (schema === null)
    return `The search_path of role ${role} names no schema that exists in database "${database}"; create the schema, or: alter role ${role} set search_path = public`
  if (facts.foreignTable)
    return `The table ${facts.foreignTable} does not belong to role ${role}; connect as its owner, or as a superuser: reassign owned by OWNER to ${role}`
  if (!facts.canUseSchema)
    return `Role ${role} may not create tables in schema "${schema}" of database "${database}"; as its owner: grant create, usage on schema ${quoted(schema)} to ${role}`
  if (facts.canUseQueue === false)
    return `Role ${role} may not use the schema "pgboss" of database "${database}"; as its owner: grant create, usage on schema pgboss to ${role}`
  if (!facts.isTrigramAvailable)
    return 'The server lacks the extension pg_trgm; install it (part of postgresql on Debian and Ubuntu, elsewhere of postgresql-contrib)'
  if (facts.isTrigramVisible === false)
    return `The extension pg_trgm is in schema "${trigramSchema}", which is not in the search_path; as a superuser: alter role ${role} set search_path = ${quoted(schema)}, ${quoted(trigramSchema!)}`
  if (!canCreate && (trigramSchema === null || facts.canUseQueue === null))
    return `Role ${role} may not create schemas and extensions in database "${database}"; as its owner: grant create on database ${quoted(database)} to ${role}`
  return null
}

/** The tightest limit and where it is set. */
function limitOf({ roleLimit, databaseLimit, serverLimit, role, database }: Facts) {
  const limits = [
    { count: serverLimit, place: 'max_connections of the server' },
    ...(roleLimit < 0 ? [] : [{ count: roleLimit, place: `the limit of role ${quoted(role)}` }]),
    ...(databaseLimit < 0
      ? []
      : [{ count: databaseLimit, place: `the limit of database ${quoted(database)}` }]),
  ]
  return limits.reduce((a, b) => (b.count < a.count ? b : a))
}

function connectionsProblem(facts: Facts) {
  const { count, place } = limitOf(facts)
  if (count >= minConnections) return null
  return `The database allows ${count} connections (${place}); Stackroom needs at least ${minConnections}`
}

function warnOfFewConnections(facts: Facts, max: number, log?: Log) {
  const { count, place } = limitOf(facts)
  const peak = peakConnections(max)
  if (count >= peak) return
  log?.warn(
    { allowed: count, limit: place, peak },
    'the database allows fewer connections than this process may use; raise the limit or lower database.max_connections',
  )
}

const quoted = (name: string) =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
