// File permissions of written files: other users of the machine have no access.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createDatabase } from '../kit/db.ts'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { comic } from '../kit/library.ts'

// Its first use takes most of the time.
const caches = temporaryFolder(t)
const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')
const modeOf = (path: string) => statSync(path).mode & 0o777
const wide = (path: string) => {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o777)
}

async function scan(t: Test, data: string) {
  const { url } = await createDatabase(t)
  const books = folderWithFiles(t, { 'A/1.cbz': comic() })
  wide(join(caches, 'stackroom'))
  const args = [launcher, 'scan', books, '--data', data, '--database-url', url]
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, XDG_CACHE_HOME: caches },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  const [code] = await once(child, 'close')
  t.equal(code, 0)
  t.equal(modeOf(join(caches, 'stackroom')), 0o700, 'the compile cache')
  return stderr
}

/** Entries that other users can reach. */
const reachable = (folder: string): string[] =>
  (modeOf(folder) & 0o077) === 0
    ? []
    : readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
        const path = join(folder, entry.name)
        if (entry.isDirectory()) return reachable(path)
        return (modeOf(path) & 0o077) === 0 ? [] : [path]
      })

t.test('a new data directory is private, with all that is written', async t => {
  const data = join(temporaryFolder(t), 'data')
  await scan(t, data)
  t.equal(modeOf(data), 0o700)
  const paths = readdirSync(data, { recursive: true, encoding: 'utf8' })
  t.ok(paths.some(path => /^thumbnails\/../.test(path)))
  t.same(
    paths.filter(path => (modeOf(join(data, path)) & 0o077) !== 0),
    [],
  )
})

t.test('one with wider rights becomes private', async t => {
  const data = join(temporaryFolder(t), 'data')
  for (const path of ['', 'thumbnails/ab', 'covers/cd', 'cache/pages', '.snapshot', 'thumbnails'])
    wide(join(data, path))
  for (const path of ['postgres.log', 'stackroom.lock', 'covers/cd/x.png', 'notes.txt']) {
    writeFileSync(join(data, path), 'x')
    chmodSync(join(data, path), 0o666)
  }
  t.equal(await scan(t, data), '')
  t.equal(modeOf(data), 0o700)
  for (const path of ['thumbnails', 'covers', 'cache', 'postgres.log', 'stackroom.lock'])
    t.equal(modeOf(join(data, path)) & 0o077, 0, path)
  t.equal(modeOf(join(data, 'notes.txt')), 0o666, 'what is not ours is not changed')
})

t.test(
  'a directory that is shared with folders of others stays open, but nothing of ours',
  async t => {
    const data = join(temporaryFolder(t), 'data')
    for (const path of ['', 'Comics', 'thumbnails', 'covers/cd']) wide(join(data, path))
    writeFileSync(join(data, 'Comics', 'a.cbz'), 'x')
    chmodSync(join(data, 'Comics', 'a.cbz'), 0o644)
    const stderr = await scan(t, data)
    t.match(stderr, /other users of this machine have access/)
    t.equal(modeOf(data), 0o777)
    t.same(reachable(data), [join(data, 'Comics', 'a.cbz')])
  },
)
