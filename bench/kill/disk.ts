// Full disks under `serve`: the data directory is filled and freed during a scan, then each of its folders
// alone. As root on Linux, because it mounts small file systems.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertAccount } from '../../test/kit/accounts.ts'
import { doctorFindings } from '../../test/kit/catalog.ts'
import { freePort } from '../../test/kit/ports.ts'
import { createRandom } from '../../test/kit/random.ts'
import { startStackroom, stopProcess } from '../kit/server-process.ts'
import { print } from '../kit/stackroom.ts'
import { startReaders } from './readers.ts'
import { createRequests } from './requests.ts'
import { followable, judge, withDatabase } from './truth.ts'
import { type Options, patientClient, untilScanned } from './under-serve.ts'
import { startWriters } from './writers.ts'

const diskMb = 600
const folderMb = 24
const fullMs = 3_000

type Health = { status: string; message: string | null }

/** Returns sentences on what is wrong; none when nothing is. */
export async function fillDisk(options: Options): Promise<string[]> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    print({ leftOut: 'file systems can only be mounted by root' })
    return []
  }
  const data = resolve(options.data)
  const problems = await onDisk(data, diskMb, () => fillData(options, data))
  for (const folder of ['thumbnails', 'cache', 'covers'] as const) {
    const own = `${data}-${folder}`
    problems.push(
      ...(await onDisk(join(own, folder), folderMb, () => fillFolder(options, own, folder))),
    )
    rmSync(own, { recursive: true, force: true })
  }
  return problems
}

async function onDisk(path: string, megabytes: number, work: () => Promise<string[]>) {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
  try {
    return await work()
  } finally {
    execFileSync('umount', ['-l', path])
  }
}

async function start(options: Options, data: string) {
  const flags = ['--data', data, '--port', String(await freePort()), '--log-level', 'error']
  const { child, base } = await startStackroom(flags)
  const path = realpathSync(options.library)
  const requests = createRequests()
  const random = createRandom(options.seed)
  const { key, writers } = await withDatabase(data, async sql => ({
    key: (await insertAccount(sql, 'admin')).key,
    writers: await startWriters(requests, { bases: [base], library: path, random, sql }),
  }))
  const api = patientClient(base, key)
  const readers = startReaders(requests, [base], { key, count: options.readers, random })
  const { id } = await api('POST', '/libraries', { name: 'Disk', path })
  await api('POST', `/libraries/${id}/scan`)
  return { child, base, key, id, api, requests, readers, writers }
}

/** A thread fills and frees the disk while a library is scanned. */
async function fillData(options: Options, data: string): Promise<string[]> {
  const { child, base, key, id, api, requests, readers, writers } = await start(options, data)
  const problems: string[] = []
  const resumed: number[] = []
  for (let cycle = 1; cycle <= 6; cycle++) {
    await sleep(1_500)
    // To the last block, or to less than what has to be free.
    const free = fill(data, cycle % 2 === 0 ? 20 : 0)
    await sleep(fullMs)
    const health = await healthOf(base)
    if (health.status !== 'degraded') problems.push(`full, but health is ${health.status}`)
    free()
    const start = performance.now()
    while ((await healthOf(base)).status !== 'ok') await sleep(50)
    resumed.push(performance.now() - start)
    const library = realpathSync(options.library)
    if (cycle === 3) writers.follow(await withDatabase(data, sql => followable(sql, library)))
  }
  await untilScanned(base, key, id)
  await api('POST', `/libraries/${id}/scan`)
  await untilScanned(base, key, id)
  await Promise.all([readers.end(), writers.end()])
  problems.push(...(await withDatabase(data, sql => writers.compare(sql))))
  await stopProcess(child)
  for (const [problem, count] of requests.problems) problems.push(`${count} x ${problem}`)
  problems.push(...(await judge(realpathSync(options.library), data, [])))
  // Here, because the disk is gone afterwards.
  problems.push(...(await withDatabase(data, sql => doctorFindings({ sql, data }))))
  const worstMs = Math.round(Math.max(...resumed))
  print({
    disk: 'data directory',
    cycles: resumed.length,
    worstMs,
    statuses: requests.statuses,
    written: writers.counts(),
    problems,
  })
  return problems
}

async function fillFolder(
  options: Options,
  data: string,
  folder: 'thumbnails' | 'cache' | 'covers',
) {
  const free = fill(join(data, folder), 0)
  const { child, base, key, id, api, requests, readers, writers } = await start(options, data)
  const problems: string[] = []
  // Books are scanned in spite of a full folder; only covers wait.
  const books = async () => (await api('GET', '/books?pageSize=5')) as unknown as BookPage
  while ((await healthOf(base)).status !== 'degraded') await sleep(100)
  if (folder !== 'thumbnails') await untilScanned(base, key, id)
  else for (let left = 120; left > 0 && !(await books()).total; left--) await sleep(500)
  const { data: found, total } = await books()
  if (!found?.length) problems.push('no book was scanned')
  const image = `/api/v1/books/${found?.[0]?.id}/pages/1?width=90`
  const page = await fetch(`${base}${image}`, { headers: { 'x-api-key': key } })
  if (!page.ok) problems.push(`a page is ${page.status} while ${folder} is full`)
  free()
  while ((await healthOf(base)).status !== 'ok') await sleep(100)
  await untilScanned(base, key, id)
  const missing = await withDatabase(
    data,
    sql => sql`
      select count(*)::integer as count from book b join book_artifact a on a.book_id = b.id
      where b.missing_at is null and b.error_code is null and b.page_count > 0
        and num_nonnulls(a.cover, a.cover_error) = 0`,
  )
  if (missing[0]!.count > 0) problems.push(`${missing[0]!.count} books without a cover`)
  await Promise.all([readers.end(), writers.end()])
  problems.push(...(await withDatabase(data, sql => writers.compare(sql))))
  await stopProcess(child)
  for (const [problem, count] of requests.problems) problems.push(`${count} x ${problem}`)
  print({
    disk: folder,
    books: total,
    page: page.status,
    statuses: requests.statuses,
    written: writers.counts(),
    problems,
  })
  return problems
}

type BookPage = { data: { id: string }[]; total: number }

const healthOf = async (base: string): Promise<Health> =>
  (await (await fetch(`${base}/health`)).json()) as Health

/** Leaves `freeMb` of a file system; returns a function that frees the rest again. */
function fill(folder: string, freeMb: number) {
  const path = join(folder, '.fill')
  const { bavail, bsize } = statfsSync(folder)
  const bytes = Math.max(0, bavail * bsize - freeMb * 1024 * 1024)
  const chunk = Buffer.alloc(4 * 1024 * 1024, 1)
  try {
    for (let written = 0; written < bytes; written += chunk.length)
      writeFileSync(path, chunk.subarray(0, Math.min(chunk.length, bytes - written)), { flag: 'a' })
  } catch {
    // Full: others write, too.
  }
  return () => {
    if (existsSync(path)) rmSync(path)
  }
}
