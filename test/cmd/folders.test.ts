// Folders that a start refuses: the data directory inside a library or the reverse, a missing TMPDIR.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Invalid, Unavailable } from '../../lib/base/errors.ts'
import { readableRoot } from '../../lib/catalog/library/library-root.ts'
import { serverSettings } from '../../lib/store/postgres/embedded/settings.ts'
import { temporaryFolder } from '../kit/files/folders.ts'

const main = join(import.meta.dirname, '..', '..', 'cmd', 'main.ts')
const folder = temporaryFolder(t)
const library = join(folder, 'library')
const data = join(library, 'data')
const link = join(folder, 'link')
mkdirSync(join(library, 'inner'), { recursive: true })
symlinkSync(library, link)

t.test('the data directory and libraries are not inside each other', async t => {
  const overlapping: [string, string][] = [
    [data, library],
    [data, link],
    [join(link, 'inner'), library],
    [library, library],
    [library, join(library, 'inner')],
  ]
  for (const [data_dir, path] of overlapping)
    await t.rejects(readableRoot(path, { data_dir, filesystem: { roots: null } }), Invalid)
  const beside = { data_dir: join(folder, 'library-data'), filesystem: { roots: null } }
  t.equal((await readableRoot(library, beside)).root.toString(), library)

  for (const args of [
    ['serve', '--data', data, '--library', library],
    ['serve', '--data', join(link, 'new', 'data'), '--library', library],
    ['scan', library, '--data', data],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
    t.equal(status, 2)
    t.match(stderr, /^stackroom: The data directory \S+ is inside the library \S+; choose .+\n$/)
  }
  t.notOk(existsSync(data), 'nothing was written')
})

t.test(
  'a missing TMPDIR is named with its remedy',
  { skip: process.platform === 'win32' },
  async t => {
    const before = process.env.TMPDIR
    t.teardown(() => {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    })
    process.env.TMPDIR = '/missing/folder'
    const user = { uid: process.getuid!(), gid: process.getgid!() } as Parameters<
      typeof serverSettings
    >[1]
    const settings = serverSettings(join(folder, 'postgres'), user, {
      throwaway: false,
      port: null,
    })
    await t.rejects(settings, Unavailable)
    await t.rejects(settings, { message: /\/missing\/folder\/\S+ .*ENOENT.* set TMPDIR/ })
  },
)
