// The watch thread on real folders: created, changed, moved and deleted files, limits of the kernel.
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openFolderWatch } from '../../../pipeline/watch/watch-folders.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { waitUntil } from '../../kit/processes.ts'

const folders = openFolderWatch()
t.teardown(() => folders.close())

/** A watched folder; `changes()` returns the paths reported since its last call. */
let marks = 0

async function watched(t: Test, root = temporaryFolder(t)) {
  let paths: string[] = []
  const failures: string[] = []
  const stop = await folders.watch(Buffer.from(root), {
    onChanged: more => paths.push(...more),
    onFailed: code => failures.push(code),
  })
  t.teardown(stop)
  const at = (path: string) => join(root, path)
  return {
    root,
    at,
    failures,
    stop,
    /** The changes so far: those that are reported until two further files are, one after the other. */
    async changes() {
      for (let i = 0; i < 2; i++) {
        const last = `last-${(marks += 1)}`
        writeFileSync(at(last), '')
        await waitUntil(() => paths.includes(last))
      }
      const changed = new Set(paths.filter(path => !path.startsWith('last-')))
      paths = []
      return [...changed].sort()
    },
    reported: () => paths,
  }
}

t.test('created, changed, moved and deleted files are reported by their paths', async t => {
  const { at, changes } = await watched(t)
  mkdirSync(at('Akira'))
  writeFileSync(at('Akira/01.cbz'), 'one')
  // Or for those that existed when it was noticed.
  const created = (await changes()).filter(path => path !== 'Akira/01.cbz')
  t.same(created, ['Akira'], 'a new folder stands for its files')
  writeFileSync(at('Akira/02.cbz'), 'two')
  t.same(await changes(), ['Akira/02.cbz'])
  writeFileSync(at('Akira/01.cbz'), 'more')
  t.same(await changes(), ['Akira/01.cbz'])
  renameSync(at('Akira/01.cbz'), at('03.cbz'))
  t.same(await changes(), ['03.cbz', 'Akira/01.cbz'])
  rmSync(at('03.cbz'))
  t.same(await changes(), ['03.cbz'])
})

t.test('folders that are created or moved in are watched recursively', async t => {
  const { at, changes } = await watched(t)
  const elsewhere = temporaryFolder(t)
  mkdirSync(join(elsewhere, 'tree/a/b'), { recursive: true })
  mkdirSync(at('x/y/z'), { recursive: true })
  renameSync(join(elsewhere, 'tree'), at('tree'))
  await changes()
  writeFileSync(at('x/y/z/new.cbz'), '1')
  writeFileSync(at('tree/a/b/new.cbz'), '1')
  t.same(await changes(), ['tree/a/b/new.cbz', 'x/y/z/new.cbz'])
})

t.test(
  'a renamed folder is watched under its new name, and a new one at its old path as well',
  async t => {
    const { at, changes } = await watched(t)
    mkdirSync(at('old/deep'), { recursive: true })
    await changes()
    renameSync(at('old'), at('new'))
    mkdirSync(at('old/other'), { recursive: true })
    await changes()
    writeFileSync(at('new/deep/1.cbz'), '1')
    writeFileSync(at('old/other/2.cbz'), '2')
    t.same(await changes(), ['new/deep/1.cbz', 'old/other/2.cbz'])
    rmSync(at('old'), { recursive: true })
    await changes()
    mkdirSync(at('old'))
    await changes()
    writeFileSync(at('old/3.cbz'), '3')
    t.same(await changes(), ['old/3.cbz'])
  },
)

t.test('a name that is not UTF-8 is reported as its bytes', async t => {
  const { root, changes } = await watched(t)
  writeFileSync(Buffer.from(`${root}/\xe9t\xe9.cbz`, 'latin1'), '1')
  t.same(await changes(), ['\xe9t\xe9.cbz'])
})

t.test('changed attributes of a folder are not reported', async t => {
  const { at, changes } = await watched(t)
  mkdirSync(at('Akira/Akira'), { recursive: true })
  await changes()
  utimesSync(at('Akira'), 1, 1)
  const reported = await changes()
  t.notOk(reported.includes('Akira/Akira/Akira'))
  rmSync(at('Akira/Akira'), { recursive: true })
  t.ok((await changes()).includes('Akira/Akira'), 'the deletion of a folder of the same name is')
})

t.test('a root may be a link, or have a name that is not UTF-8', async t => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'real'))
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  const { at, changes } = await watched(t, join(folder, 'link'))
  writeFileSync(at('1.cbz'), '1')
  t.same(await changes(), ['1.cbz'])

  const odd = Buffer.from(`${folder}/\xe9`, 'latin1')
  mkdirSync(odd)
  const paths: string[] = []
  const stop = await folders.watch(odd, { onChanged: p => paths.push(...p), onFailed() {} })
  writeFileSync(Buffer.concat([odd, Buffer.from('/2.cbz')]), '2')
  await waitUntil(() => paths.length > 0)
  t.same([...new Set(paths)], ['2.cbz'])
  stop()
})

t.test('limits of the kernel are reported', async t => {
  const root = temporaryFolder(t)
  for (let i = 0; i < 20; i++) mkdirSync(join(root, String(i)))
  const module = new URL('../../../pipeline/watch/watch-folders.ts', import.meta.url).href
  const program = `
    const { openFolderWatch } = await import('${module}')
    const folders = openFolderWatch()
    await folders.watch(Buffer.from('${root}'), { onChanged() {}, onFailed() {} })
      .then(() => console.log('watching'), error => console.log(error.code))
    await folders.close()`
  const file = join(temporaryFolder(t), 'program.mjs')
  writeFileSync(file, program)
  const script = `echo "$1" > /proc/sys/user/"$2" && exec "$3" "$4"`
  const withLimit = (limit: number, name: string) =>
    spawnSync(
      'unshare',
      [
        '--user',
        '--map-root-user',
        'sh',
        '-c',
        script,
        'sh',
        String(limit),
        name,
        process.execPath,
        file,
      ],
      { encoding: 'utf8' },
    )
  const watches = withLimit(10, 'max_inotify_watches')
  if (watches.status !== 0) return void t.pass('limits cannot be set here')
  t.equal(watches.stdout, 'ENOSPC\n')
  t.equal(withLimit(0, 'max_inotify_instances').stdout, 'EMFILE\n')
  t.equal(withLimit(100, 'max_inotify_watches').stdout, 'watching\n')
})

t.test('a folder that cannot be watched is rejected; a stopped watch reports nothing', async t => {
  const listener = { onChanged() {}, onFailed() {} }
  await t.rejects(folders.watch(Buffer.from(join(temporaryFolder(t), 'away')), listener), {
    code: 'ENOENT',
  })
  const { root, at, reported, stop } = await watched(t)
  const other = await watched(t, root)
  stop()
  writeFileSync(at('1.cbz'), '1')
  t.same(await other.changes(), ['1.cbz'])
  t.same(reported(), [])
})
