// Commands with the data directory of another database, and `doctor --adopt`.
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { preparedDataDirectory } from '../kit/files/data-directory.ts'
import { temporaryFolder } from '../kit/files/folders.ts'

t.test(
  'a data directory that does not belong to the database is refused until it is adopted',
  async t => {
    const data = join(temporaryFolder(t), 'data')
    const { stackroom } = await commandLine(t, {}, data)
    t.equal((await stackroom(['doctor'])).code, 0)
    renameSync(data, `${data}-before`)

    const library = temporaryFolder(t)
    for (const args of [['serve', '--port', '0'], ['scan', library], ['doctor']]) {
      const { code, stderr } = await stackroom(args)
      t.equal(code, 2, args.join(' '))
      t.match(stderr, /^stackroom: The data directory .+doctor --adopt.+\n$/m)
      t.match(stderr, / database \w+ at \//, 'names the database')
      t.match(stderr, data, 'names the directory')
    }
    const account = ['user', 'add', 'ana', '--email', 'ana@example.org', '--generate']
    t.equal((await stackroom(account)).code, 0, 'accounts are not in the data directory')

    t.equal((await stackroom(['doctor', '--adopt'])).code, 0)
    t.equal((await stackroom(['scan', library])).code, 0, 'accepted from now on')
    t.equal((await stackroom(['doctor', '--new-id'])).code, 0)
    t.equal((await stackroom(['scan', library])).code, 0, 'both have the new id')
    renameSync(data, `${data}-new`)
    renameSync(`${data}-before`, data)
    t.match(await stackroom(['doctor']), { code: 2, stderr: /belongs to another database/ })
  },
)

t.test('the bundled database belongs to the directory that it is in', async t => {
  const data = await preparedDataDirectory(t)
  const { stackroom } = await commandLine(t)
  t.equal((await stackroom.plain(['doctor', '--data', data])).code, 0)
  // As after an unusable database: the catalog is scanned again.
  renameSync(join(data, 'postgres'), join(data, 'postgres-before'))
  renameSync(join(await preparedDataDirectory(t), 'postgres'), join(data, 'postgres'))
  t.equal((await stackroom.plain(['doctor', '--data', data])).code, 0)
})
