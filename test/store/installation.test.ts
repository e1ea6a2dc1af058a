// Identity of an installation: which data directories a database accepts.
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Conflict } from '../../lib/base/errors.ts'
import { joinInstallation } from '../../lib/store/installation.ts'
import { createDatabase } from '../kit/db.ts'
import { temporaryFolder } from '../kit/files/folders.ts'

/** `join` is a start with the database and the data directory of these names. */
function installations(t: Test) {
  const parent = temporaryFolder(t)
  const databases = new Map<string, ReturnType<typeof createDatabase>>()
  const folderOf = (name: string) => join(parent, name)
  return {
    folderOf,
    async join(database: string, name: string, { adopts = false, renews = false } = {}) {
      if (!databases.has(database)) databases.set(database, createDatabase(t))
      const { sql } = await databases.get(database)!
      mkdirSync(folderOf(name), { recursive: true })
      await joinInstallation(sql, {
        folder: folderOf(name),
        place: `${database} at db:5432`,
        adopts,
        renews,
      })
    },
  }
}

t.test('a database and a data directory that started together belong together', async t => {
  const { join: start } = installations(t)
  await start('a', 'a')
  await start('a', 'a')
  await start('b', 'b')
  for (const [database, folder, message] of [
    [
      'a',
      'b',
      /^The data directory \S+ belongs to another database, not to the database a at db:5432; /,
    ],
    ['a', 'new', /^The data directory \S+ does not belong to the database a at db:5432; /],
    ['new', 'a', /^The data directory \S+ belongs to another .+ not to the new database new at db/],
  ] as const) {
    await t.rejects(start(database, folder), Conflict, `${database} with ${folder}`)
    await t.rejects(start(database, folder), { message })
    await start(database, folder, { adopts: true })
    await start(database, folder)
  }
})

t.test('processes that start at the same time agree on one directory', async t => {
  const { join: start } = installations(t)
  const same = await Promise.allSettled([start('a', 'a'), start('a', 'a'), start('a', 'a')])
  t.same(
    same.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled'],
  )
  const different = await Promise.allSettled([start('b', '1'), start('b', '2'), start('b', '3')])
  t.equal(different.filter(({ status }) => status === 'rejected').length, 2)
})

t.test('a first start that was killed before its last step is continued', async t => {
  const { join: start, folderOf } = installations(t)
  await start('a', 'a')
  const file = join(folderOf('a'), 'stackroom.id')
  const id = readFileSync(file, 'utf8')
  renameSync(file, `${file}.new`)
  await start('a', 'a')
  t.equal(readFileSync(file, 'utf8'), id)
})

t.test('a copy of an installation with a new id is not taken for the original', async t => {
  const { join: start, folderOf } = installations(t)
  await start('original', 'original')
  cpSync(folderOf('original'), folderOf('copy'), { recursive: true })
  await start('copy', 'copy', { adopts: true })
  await start('copy', 'original')

  await start('copy', 'copy', { renews: true })
  await start('copy', 'copy')
  await start('original', 'original')
  await t.rejects(start('copy', 'original'), Conflict)
  await t.rejects(start('original', 'copy'), Conflict)

  await start('copy', 'second host', { adopts: true })
  await start('copy', 'second host')
  await start('copy', 'copy')
})

t.test('a new id that was killed before its last step is continued', async t => {
  const { join: start, folderOf } = installations(t)
  await start('a', 'a')
  const file = join(folderOf('a'), 'stackroom.id')
  copyFileSync(file, `${file}.before`)
  await start('a', 'a', { renews: true })
  const id = readFileSync(file, 'utf8')
  renameSync(file, `${file}.new`)
  renameSync(`${file}.before`, file)
  await start('a', 'a')
  t.equal(readFileSync(file, 'utf8'), id)
})
