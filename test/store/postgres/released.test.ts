// Upgrade of a database of every released version: the schema becomes that of a new database, and no row is lost.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { migrationFolder } from '../../../lib/store/postgres/migrate.ts'
import { projectRoot } from '../../kit/db.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import {
  differencesAfterUpgrade,
  releasedFolder,
  writeReleased,
} from '../../kit/generate/released-database.ts'

/** Tables and columns (`table.column`) whose rows a migration changes or removes deliberately. */
const intended: string[] = []

const file = join(temporaryFolder(t), 'this.backup')
await writeReleased(t, file)

const stored = existsSync(releasedFolder) ? readdirSync(releasedFolder).sort() : []
for (const name of stored)
  t.test(`a database of ${basename(name, '.backup')} is upgraded`, async t => {
    t.same(await differencesAfterUpgrade(t, join(releasedFolder, name), { intended }), [])
  })

t.test('every version in the changelog is stored', async t => {
  const changelog = readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8')
  const versions = [...changelog.matchAll(/^## \[?(\d+\.\d+\.\d+)/gm)].map(([, version]) => version)
  t.same(
    versions.filter(version => !stored.includes(`${version}.backup`)),
    [],
    'npm run released stores it',
  )
})

/** The migrations of this version and a later one. */
function withMigration(t: Test, text: string): string {
  const folder = temporaryFolder(t)
  cpSync(migrationFolder, folder, { recursive: true })
  writeFileSync(join(folder, '0099_later.sql'), text)
  return folder
}

t.test('a migration that loses nothing has no differences', async t => {
  const folder = withMigration(
    t,
    `alter table book add column shelf_mark text not null default '';
     create index book_shelf_mark on book (shelf_mark);
     create function shelf() returns int language sql as 'select 1';`,
  )
  t.same(await differencesAfterUpgrade(t, file, { folder }), [])
})

t.test('a schema that depends on what was there before is found', async t => {
  const statements = `
    alter table book add column shelf int;
    alter table book add constraint few check (page_count < 1000000);
    alter table book alter column title drop not null;
    create index shelf on book (page_count);
    create function shelf() returns trigger language plpgsql as 'begin return null; end';
    create trigger shelf after update of title on book for each row execute function shelf();`
  const folder = withMigration(
    t,
    `do $do$ begin if not exists (select from book) then ${statements} end if; end $do$`,
  )
  const differences = (await differencesAfterUpgrade(t, file, { folder })).join('\n')
  for (const expected of [
    'shelf integer,',
    'constraint few CHECK ((page_count < 1000000))',
    'title text,',
    'CREATE INDEX shelf ON public.book USING btree (page_count);',
    'CREATE OR REPLACE FUNCTION public.shelf()',
    'CREATE TRIGGER shelf AFTER UPDATE OF title ON public.book',
  ])
    t.ok(differences.includes(`only in a new database: ${expected}`), differences)
})

t.test('rows that are changed or lost are found, unless that is intended', async t => {
  const folder = withMigration(
    t,
    `delete from user_rating; update account set username = upper(username);
     alter table library drop column name; drop table want_to_read cascade;`,
  )
  const differences = await differencesAfterUpgrade(t, file, { folder })
  t.same(differences.sort(), [
    'library.name is gone',
    'rows of account differ',
    'rows of user_rating differ',
    'want_to_read is gone',
  ])
  const named = ['library.name', 'account.username', 'user_rating', 'want_to_read']
  t.same(await differencesAfterUpgrade(t, file, { folder, intended: named }), [])
})

t.test('a migration that fails on rows, or was changed after its release, is found', async t => {
  const failing = withMigration(t, 'alter table book add column shelf text not null')
  await t.rejects(differencesAfterUpgrade(t, file, { folder: failing }), /0099_later\.sql.*shelf/)
  const changed = withMigration(t, 'select 1')
  writeFileSync(join(changed, '0001_baseline.sql'), 'create table book (id int)')
  await t.rejects(differencesAfterUpgrade(t, file, { folder: changed }), /0001_baseline\.sql/)
})
