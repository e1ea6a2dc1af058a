// Key file of the secrets: made once by processes that start together, and refused with its name when it is not usable.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import {
  newSecretKey,
  readKeys,
  readOrCreateKeys,
  writeKeys,
} from '../../../lib/store/secret/key-file.ts'
import { secretsIn } from '../../../lib/store/secret/secrets.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'

const module = join(import.meta.dirname, '../../../lib/store/secret/key-file.ts')

t.test('processes that start at once agree on a key, which only their user can read', async t => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'stackroom.keys')
  const program = `import { readOrCreateKeys } from ${JSON.stringify(module)}
    process.stdout.write(readOrCreateKeys(${JSON.stringify(file)}).map(key => key.id).join())`
  const ids = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
      let id = ''
      child.stdout.on('data', chunk => {
        id += chunk
      })
      await once(child, 'close')
      return id
    }),
  )
  t.match(ids[0], /^[0-9a-f]{16}$/)
  t.equal(new Set(ids).size, 1)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.same(readdirSync(folder), ['stackroom.keys'], 'no drafts are left')
  writeKeys(file, [newSecretKey(), ...readKeys(file)])
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.same(readKeys(file)[1]!.id, ids[0], 'earlier keys stay')
})

t.test('a file that is not usable is named', t => {
  const folder = temporaryFolder(t)
  const cases: [name: string, prepare: (file: string) => void, message: RegExp][] = [
    ['folder', file => mkdirSync(file), /folder is not a file/],
    ['empty', file => writeFileSync(file, ''), /empty is empty/],
    ['comment', file => writeFileSync(file, '# nothing\n'), /comment is empty/],
    ['words', file => writeFileSync(file, 'correct horse battery'), /words is not a key file/],
    ['short', file => writeFileSync(file, 'c2hvcnQ'), /short is not a key file/],
    ['absent/file', () => {}, /file cannot be created \(ENOENT\)/],
    [
      'parent/file',
      file => writeFileSync(join(file, '..'), ''),
      /cannot be (created|read) \(ENOTDIR\)/,
    ],
  ]
  for (const [name, prepare, message] of cases) {
    const file = join(folder, name)
    prepare(file)
    t.throws(() => readOrCreateKeys(file), Invalid, name)
    t.throws(() => readOrCreateKeys(file), { message }, name)
    t.throws(() => readOrCreateKeys(file), { message: /^secrets\.key_file: / }, name)
  }
  t.end()
})

t.test('a secret is bound to its key and its place', t => {
  const [one, other] = ['a', 'b'].map(name => secretsIn(join(temporaryFolder(t), name)))
  const sealed = one!.seal('marked', 'here')
  t.notMatch(sealed, /marked/)
  t.equal(one!.open(sealed, 'here'), 'marked')
  t.equal(one!.open(sealed, 'there'), null, 'moved to another place')
  t.equal(other!.open(sealed, 'here'), null, 'another key')
  t.not(one!.seal('marked', 'here'), sealed)
  for (const broken of ['', 'marked', `${sealed}x`, sealed.slice(0, -2), sealed.slice(0, 40)])
    t.equal(one!.open(broken, 'here'), null, broken)
  t.equal(one!.open(one!.seal('', 'here'), 'here'), '')
  writeKeys(one!.file, [newSecretKey(), ...readKeys(one!.file)])
  t.equal(one!.open(sealed, 'here'), 'marked', 'after a new key')
  t.notMatch(readFileSync(one!.file, 'utf8'), /marked/)
  t.end()
})
