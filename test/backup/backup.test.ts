// Backup of a catalog with all kinds of rows, restored into another database: every row, nothing of the old sessions.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadBackup } from '../../lib/backup/load.ts'
import { type RestoreOptions, restoreBackup } from '../../lib/backup/restore.ts'
import { openBackup, verifyBackup } from '../../lib/backup/verify.ts'
import { writeBackup } from '../../lib/backup/write.ts'
import { scoped } from '../../lib/base/async/dispose.ts'
import { newId } from '../../lib/base/id.ts'
import {
  coverFolders,
  coverName,
  originalPath,
  writeCover,
} from '../../lib/catalog/cover/cover-files.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { migrationFolder } from '../../lib/store/postgres/migrate.ts'
import { secretsIn } from '../../lib/store/secret/secrets.ts'
import { createDatabase, createEmptyDatabase } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { createFixture } from '../kit/fixture.ts'
import { dumpSchema } from '../kit/generate/schema-dump.ts'

const w = await createFixture(t)
const folder = temporaryFolder(t)
const dataDir = join(folder, 'data')
mkdirSync(dataDir)
const secrets = secretsIn(join(dataDir, 'stackroom.keys'))
secrets.keyId()
const original = Buffer.from('not really an image')
const hash = coverName(original)
await writeCover(coverFolders(dataDir), {
  ...{ name: hash, extension: 'png', original, thumbnail: Buffer.from('small') },
  format: 'webp',
})
for (const name of [hash, 'ab'.repeat(20)])
  await w.sql`
    insert into cover (id, series_id, source, hash, original)
    values (${newId()}, ${await firstSeries(w.sql)}, 'user', ${`\\x${name}`}::text::bytea, 'png')`
// Values that COPY has to escape, and a value that JSON numbers would not hold.
await w.sql`update book set title = ${'tab\t, line\n, slash \\ and \\. end'} where id = (select min(id::text) from book)::uuid`
const file = join(folder, 'stackroom.backup')
const manifest = await writeBackup({
  sql: w.sql,
  file,
  dataDir,
  secrets,
  passphrase: 'correct horse',
})

/** A database and data directory to restore into. */
async function target(t: Test, options: Partial<RestoreOptions> = {}) {
  const { sql } = await createDatabase(t)
  const dataDir = temporaryFolder(t)
  const secrets = secretsIn(join(dataDir, 'stackroom.keys'))
  await sql`insert into setting (key, value) values ('installation_id', '{"id": "own"}')`
  const restore = (more: Partial<RestoreOptions> = {}) =>
    restoreBackup({ sql, file, dataDir, secrets, replace: false, ...options, ...more })
  return { sql, dataDir, secrets, restore }
}

t.test('every row is restored, and the schema with all its keys and triggers', async t => {
  const { sql, restore } = await target(t)
  await restore()
  const left = new Set(['session', 'client_session', 'refresh_token', 'email_verification'])
  let rows = 0
  for (const name of await tableNames(w.sql)) {
    if (
      left.has(name) ||
      /^(event_server|.*list_change|rate_bucket|page_stream|schema_migration)$/.test(name)
    )
      continue
    const [before, after] = [await rowsOf(w.sql, name), await rowsOf(sql, name)]
    if (name === 'setting') {
      t.match(
        after.join(),
        /"key": "installation_id", "value": \{"id": "own"\}/,
        'the installation keeps its id',
      )
      t.notMatch(after.join(), /jwt_keys/)
      continue
    }
    t.same(after, before, name)
    rows += after.length
  }
  t.ok(rows > 150, `${rows} rows`)
  // PostgreSQL leaves out redundant parentheses when it reads its own text.
  const schemaOf = async (sql: Sql) => (await dumpSchema(sql)).replace(/[()]/g, '')
  t.equal(await schemaOf(sql), await schemaOf(w.sql))
  const off = await sql`select tgname from pg_trigger where not tgisinternal and tgenabled <> 'O'`
  t.same([...off], [], 'all triggers work again')
  t.same([...(await sql`select from session union all select from refresh_token`)], [])
})

t.test('the archive contains its entries as they are', async t => {
  const bytes = readFileSync(file)
  t.ok(bytes.includes(original))
})

t.test('uploaded covers are restored with their thumbnails; a missing one is counted', async t => {
  t.same(manifest.covers, { files: 2, bytes: original.length + 5, missing: 1 })
  const { dataDir, restore } = await target(t)
  await restore()
  t.same(readFileSync(originalPath(coverFolders(dataDir), hash, 'png')), original)
  t.ok(existsSync(join(dataDir, 'thumbnails', hash.slice(0, 3), `${hash}.webp`)))
})

t.test('the key of the secrets needs the passphrase', async t => {
  const { secrets: own, restore, sql } = await target(t)
  await t.rejects(restore({ passphrase: 'wrong horse' }), /passphrase does not open/)
  t.equal((await sql`select from account`).length, 0, 'nothing has changed')
  await restore({ passphrase: 'correct horse' })
  t.equal(own.keyId(), secrets.keyId())
  t.notMatch(
    readFileSync(file).toString('latin1'),
    readFileSync(secrets.file, 'utf8').split('\n')[1]!,
  )
})

t.test('a database with accounts is replaced on demand only, and as a whole', async t => {
  const { sql, restore } = await target(t)
  await restore()
  await sql`delete from book`
  await sql`create schema pgboss`
  await t.rejects(
    restore(),
    /The database contains 6 accounts and 1 libraries; --replace deletes them/,
  )
  t.equal((await rowsOf(sql, 'book')).length, 0)
  await restore({ replace: true })
  t.same(await rowsOf(sql, 'book'), await rowsOf(w.sql, 'book'))
  t.same(
    [...(await sql`select from pg_namespace where nspname = 'pgboss'`)],
    [],
    'the queue is gone',
  )
})

t.test('an interruption leaves the database as it was', async t => {
  const { sql, restore } = await target(t)
  await restore()
  await sql`update book set title = 'mine'`
  const before = await rowsOf(sql, 'book')
  const abort = new AbortController()
  const restoring = restore({ replace: true, signal: abort.signal })
  setTimeout(() => abort.abort(new Error('interrupted')), 50)
  await t.rejects(restoring, /interrupted/)
  t.same(await rowsOf(sql, 'book'), before)
})

t.test('tables of another application are never dropped', async t => {
  const { sql, restore } = await target(t)
  await sql`create table payroll (amount integer)`
  await t.rejects(restore({ replace: true }), /tables of another application \(payroll\)/)
  t.same([...(await sql`select from payroll`)], [])
})

t.test('any damage is found before something is restored', async t => {
  const bytes = readFileSync(file)
  const damaged = join(folder, 'damaged.backup')
  // The end record of the archive has no checksum, and needs none; the names of entries are checked by being found.
  for (let i = 0; i < 40; i++) {
    const at = Math.floor(((bytes.length - 30_000) * (i + 0.5)) / 40)
    const copy = Buffer.from(bytes)
    copy[at]! ^= 0x10
    writeFileSync(damaged, copy)
    const outcome = await verifyBackup(damaged).then(
      () => 'whole',
      error => error.constructor.name,
    )
    if (outcome === 'whole')
      t.same(await contentOf(damaged), await contentOf(file), `byte ${at} is padding`)
    else t.equal(outcome, 'Invalid', `byte ${at}`)
  }
  for (const share of [0, 0.2, 0.5, 0.9, 0.999]) {
    cpSync(file, damaged)
    truncateSync(damaged, Math.floor(bytes.length * share))
    await t.rejects(verifyBackup(damaged), { name: 'Invalid' }, `${share} of the file`)
  }
})

t.test('a crafted file reaches no table but those of the schema', async t => {
  const { sql, restore } = await target(t)
  await sql`create schema payroll create table wage (amount integer)`
  await sql`insert into payroll.wage values (1)`
  const backup = await openBackup(file)
  t.teardown(() => backup[Symbol.asyncDispose]())
  const [first] = backup.manifest.tables
  for (const change of [
    { name: 'payroll.wage' },
    { name: 'payroll"."wage' },
    { columns: ['nothing'] },
  ]) {
    backup.manifest.tables.splice(0, 1, { ...first!, ...change })
    await t.rejects(loadBackup(sql, { backup, place: 'crafted' }), /a table that its schema lacks/)
  }
  t.equal((await sql`select from payroll.wage`).length, 1)
  await restore()
})

t.test('an existing file is not replaced, and a failed backup leaves none', async t => {
  const options = { sql: w.sql, dataDir, secrets }
  await t.rejects(writeBackup({ ...options, file }), /exists already/)
  const other = join(folder, 'other.backup')
  const signal = AbortSignal.abort(new Error('stopped'))
  await t.rejects(writeBackup({ ...options, file: other, signal }), /stopped/)
  await t.rejects(
    writeBackup({ ...options, file: join(folder, 'none', 'x') }),
    /folder of the backup does not exist/,
  )
  const { sql } = await createEmptyDatabase(t)
  await t.rejects(writeBackup({ ...options, sql, file: other }), /nothing to back up/)
  t.notOk(existsSync(other) || existsSync(`${other}.partial`))
})

t.test('a backup is restored into a later schema', async t => {
  const { sql } = await createEmptyDatabase(t)
  const later = temporaryFolder(t)
  cpSync(migrationFolder, later, { recursive: true })
  const known = readdirSync(migrationFolder).filter(name => /^\d/.test(name)).length
  writeFileSync(
    join(later, `${String(known + 1).padStart(4, '0')}_shelf_mark.sql`),
    `alter table book add column shelf_mark text; update book set shelf_mark = 'S ' || title;`,
  )
  const backup = await openBackup(file)
  t.teardown(() => backup[Symbol.asyncDispose]())
  await loadBackup(sql, { backup, place: 'backup', migrations: later })
  const [row] =
    await sql`select count(*)::int as books, count(*) filter (where shelf_mark = 'S ' || title)::int as marked from book`
  t.same(row, { books: 10, marked: 10 })
  const numbers = await sql`select number from schema_migration order by 1`
  t.same(
    [...numbers].map(r => r.number),
    Array.from({ length: known + 1 }, (_, i) => i + 1),
  )
  // From a schema that this version does not know.
  backup.manifest.migrations.push({ number: 7777, name: 'future', sha256: 'a'.repeat(64) })
  await t.rejects(
    loadBackup(sql, { backup, place: 'The backup' }),
    /newer version of Stackroom \(7777_future.sql\)/,
  )
})

async function firstSeries(sql: Sql) {
  const [row] = await sql`select id from series limit 1`
  return row!.id
}

async function tableNames(sql: Sql): Promise<string[]> {
  const rows =
    await sql`select tablename as name from pg_tables where schemaname = 'public' order by 1`
  return rows.map(row => row.name)
}

/** Rows as PostgreSQL writes them, in order; when a key was last used is written some time later. */
async function rowsOf(sql: Sql, table: string): Promise<string[]> {
  const rows =
    await sql`select (to_jsonb(x) - 'last_used_at')::text as row from ${sql(table)} x order by 1`
  return rows.map(({ row }) => row)
}

const contentOf = (path: string) => scoped(async use => use(await openBackup(path)).manifest)
