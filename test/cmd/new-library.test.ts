// Libraries that `serve` and `scan` create: watched and scanned daily, unless options state something else.
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { commandLine } from '../kit/command.ts'
import { temporaryFolder } from '../kit/files/folders.ts'
import { comic } from '../kit/library.ts'
import { processes, waitUntil } from '../kit/processes.ts'

t.jobs = 2

function library() {
  const root = temporaryFolder(t)
  mkdirSync(join(root, 'Akira'))
  writeFileSync(join(root, 'Akira', 'Akira 1.cbz'), comic())
  return root
}

t.test('a book that is added to the library of a server appears', async t => {
  const { serve, sql } = await processes(t)
  const root = library()
  const titles = async () => (await sql`select title from book order by title`).map(b => b.title)
  const server = await serve('--library', root)
  await waitUntil(async () => {
    const [row] = await sql`select mode from library_watch`
    return row?.mode === 'watching' && (await titles()).length === 1
  })
  const [row] = await sql`select name, scanning_config as config from library`
  t.match(row, {
    name: basename(root),
    config: { watch: 'on', cronSchedule: '0 3 * * *', enabled: true, scanMode: 'normal' },
  })
  writeFileSync(join(root, 'Akira', 'Akira 2.cbz'), comic())
  await waitUntil(async () => (await titles()).length === 2)
  t.equal((await server.terminate()).code, 0)
})

t.test('options of a new library', async t => {
  const { stackroom, sql } = await commandLine(t)
  const root = library()
  const options = ['--name', 'Manga', '--watch', 'poll', '--schedule', '15 4 * * 1']
  const { code } = await stackroom(['scan', root, ...options, '--strategy', 'flat'])
  t.equal(code, 0)
  const [row] = await sql`select name, series_strategy, scanning_config from library`
  t.match(row, {
    ...{ name: 'Manga', series_strategy: 'flat' },
    scanning_config: { watch: 'poll', cronSchedule: '15 4 * * 1', enabled: true },
  })
  const other = library()
  t.equal((await stackroom(['scan', other, '--watch', 'off', '--schedule', 'off'])).code, 0)
  const [still] = await sql`select scanning_config from library where name <> 'Manga'`
  t.match(still!.scanning_config, { watch: 'off', cronSchedule: null, enabled: false })
  t.equal((await stackroom(['scan', root, '--watch', 'on'])).code, 0)
  const [unchanged] = await sql`select scanning_config from library where name = 'Manga'`
  t.match(unchanged!.scanning_config, { watch: 'poll' }, 'an existing library keeps its settings')
})

t.test('what an option cannot have is refused at the start', async t => {
  const { stackroom } = await commandLine(t)
  for (const [options, message] of [
    [['--schedule', 'daily'], /--schedule/],
    [['--watch', 'maybe'], /--watch/],
    [['--strategy', 'none'], /--strategy/],
    [['--name', 'A', '--library', '/a', '--library', '/b'], /--name needs exactly one --library/],
  ] as const) {
    const { code, stderr } = await stackroom(['serve', '--port', '0', ...options])
    t.equal(code, 2)
    t.match(stderr, message)
  }
})
