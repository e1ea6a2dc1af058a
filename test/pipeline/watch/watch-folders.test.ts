// The thread that hears of changes, on real folders.
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openFolderWatch } from '../../../pipeline/watch/watch-folders.ts'
import { temporary } from '../../kit/library.ts'

const folders = openFolderWatch()
t.teardown(() => folders.close())

/** A watched folder, and what was heard of it since the last time one asked. */
async function watched(t: Test, root = temporary(t)) {
  let paths: string[] = []
  const failures: string[] = []
  const stop = await folders.watch(Buffer.from(root), {
    changed: more => paths.push(...more),
    failed: code => failures.push(code),
  })
  t.teardown(stop)
  const at = (path: string) => join(root, path)
  return {
    root,
    at,
    failures,
    stop,
    /** After a moment without news. */
    async heard() {
      for (let before = -1; before !== paths.length; ) {
        before = paths.length
        await sleep(400)
      }
      const heard = new Set(paths)
      paths = []
      return [...heard].sort()
    },
  }
}

t.test('files that come, change, move and go are heard of by their paths', async t => {
  const { at, heard } = await watched(t)
  mkdirSync(at('Akira'))
  writeFileSync(at('Akira/01.cbz'), 'one')
  t.same(await heard(), ['Akira'], 'a new folder stands for what it holds')
  writeFileSync(at('Akira/02.cbz'), 'two')
  t.same(await heard(), ['Akira/02.cbz'])
  writeFileSync(at('Akira/01.cbz'), 'more')
  t.same(await heard(), ['Akira/01.cbz'])
  renameSync(at('Akira/01.cbz'), at('03.cbz'))
  t.same(await heard(), ['03.cbz', 'Akira/01.cbz'])
  rmSync(at('03.cbz'))
  t.same(await heard(), ['03.cbz'])
})

t.test('folders made or moved in at once are watched to the bottom', async t => {
  const { at, heard } = await watched(t)
  const elsewhere = temporary(t)
  mkdirSync(join(elsewhere, 'tree/a/b'), { recursive: true })
  mkdirSync(at('x/y/z'), { recursive: true })
  renameSync(join(elsewhere, 'tree'), at('tree'))
  await heard()
  writeFileSync(at('x/y/z/new.cbz'), '1')
  writeFileSync(at('tree/a/b/new.cbz'), '1')
  t.same(await heard(), ['tree/a/b/new.cbz', 'x/y/z/new.cbz'])
})

t.test(
  'a renamed folder is watched under its new name, another one at its old place as well',
  async t => {
    const { at, heard } = await watched(t)
    mkdirSync(at('old/deep'), { recursive: true })
    await heard()
    renameSync(at('old'), at('new'))
    mkdirSync(at('old/other'), { recursive: true })
    await heard()
    writeFileSync(at('new/deep/1.cbz'), '1')
    writeFileSync(at('old/other/2.cbz'), '2')
    t.same(await heard(), ['new/deep/1.cbz', 'old/other/2.cbz'])
    rmSync(at('old'), { recursive: true })
    await heard()
    mkdirSync(at('old'))
    await heard()
    writeFileSync(at('old/3.cbz'), '3')
    t.same(await heard(), ['old/3.cbz'])
  },
)

t.test('a name that is no UTF-8 arrives as its bytes', async t => {
  const { root, heard } = await watched(t)
  writeFileSync(Buffer.from(`${root}/\xe9t\xe9.cbz`, 'latin1'), '1')
  t.same(await heard(), ['\xe9t\xe9.cbz'])
})

t.test('new times of a folder are no news', async t => {
  const { at, heard } = await watched(t)
  mkdirSync(at('Akira/Akira'), { recursive: true })
  await heard()
  utimesSync(at('Akira'), 1, 1)
  const news = await heard()
  t.notOk(news.includes('Akira/Akira/Akira'))
  rmSync(at('Akira/Akira'), { recursive: true })
  t.ok((await heard()).includes('Akira/Akira'), 'a folder of the same name that goes is')
})

t.test('a root may be a link, or have a name that is no UTF-8', async t => {
  const folder = temporary(t)
  mkdirSync(join(folder, 'real'))
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  const { at, heard } = await watched(t, join(folder, 'link'))
  writeFileSync(at('1.cbz'), '1')
  t.same(await heard(), ['1.cbz'])

  const odd = Buffer.from(`${folder}/\xe9`, 'latin1')
  mkdirSync(odd)
  const paths: string[] = []
  const stop = await folders.watch(odd, { changed: p => paths.push(...p), failed() {} })
  writeFileSync(Buffer.concat([odd, Buffer.from('/2.cbz')]), '2')
  await sleep(400)
  t.same(paths, ['2.cbz'])
  stop()
})

t.test('a kernel that allows no more watches is heard', async t => {
  const root = temporary(t)
  for (let i = 0; i < 20; i++) mkdirSync(join(root, String(i)))
  const module = new URL('../../../pipeline/watch/watch-folders.ts', import.meta.url).href
  const program = `
    const { openFolderWatch } = await import('${module}')
    const folders = openFolderWatch()
    await folders.watch(Buffer.from('${root}'), { changed() {}, failed() {} })
      .then(() => console.log('watching'), error => console.log(error.code))
    await folders.close()`
  const file = join(temporary(t), 'program.mjs')
  writeFileSync(file, program)
  const script = `echo "$1" > /proc/sys/user/"$2" && exec "$3" "$4"`
  const limited = (most: number, what: string) =>
    spawnSync(
      'unshare',
      [
        '--user',
        '--map-root-user',
        'sh',
        '-c',
        script,
        'sh',
        String(most),
        what,
        process.execPath,
        file,
      ],
      { encoding: 'utf8' },
    )
  const watches = limited(10, 'max_inotify_watches')
  if (watches.status !== 0) return void t.pass('no limits of its own can be set here')
  t.equal(watches.stdout, 'ENOSPC\n')
  t.equal(limited(0, 'max_inotify_instances').stdout, 'EMFILE\n')
  t.equal(limited(100, 'max_inotify_watches').stdout, 'watching\n')
})

t.test('what cannot be watched says why; what is stopped says nothing more', async t => {
  const hearing = { changed() {}, failed() {} }
  await t.rejects(folders.watch(Buffer.from(join(temporary(t), 'away')), hearing), {
    code: 'ENOENT',
  })
  const { at, heard, stop } = await watched(t)
  stop()
  await sleep(100)
  writeFileSync(at('1.cbz'), '1')
  t.same(await heard(), [])
})
