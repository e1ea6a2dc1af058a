// A server of the web application with a small library of real books and accounts that can sign in.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { hashPassword } from '../../../lib/accounts/password.ts'
import type { Role } from '../accounts.ts'
import { projectRoot, type Scope } from '../db.ts'
import { createTestLibrary } from '../library.ts'
import { startApi, type TestApi } from '../server.ts'
import { type WebBookName, webBooks } from './books.ts'
import { useBrowser } from './browser.ts'

export type App = Awaited<ReturnType<typeof startApp>>

type AppOptions = {
  settings?: Record<string, unknown>
  /** None by default. */
  books?: readonly WebBookName[]
  /** Further files of the library by path. */
  files?: Record<string, Buffer>
}

/** Password of all accounts. */
export const password = 'correct horse battery'

const builds = join(projectRoot, 'node_modules', '.cache', 'stackroom-tests', 'web')

/** Lets a server use the build of other tests, before its first page. Making one takes a second of CPU time. */
export function shareBuild({ config }: Pick<TestApi, 'config'>): void {
  const cache = join(config.data_dir, 'cache')
  for (const folder of [builds, cache]) mkdirSync(folder, { recursive: true })
  symlinkSync(builds, join(cache, 'web'))
}

/** The server with a scanned library until the end of `t`. */
export async function startApp(t: Scope, { settings, books = [], files = {} }: AppOptions = {}) {
  // Keeps the one of the test file before.
  await useBrowser(t)
  const api = await startApi(t, settings)
  shareBuild(api)
  const hash = await hashPassword(password)
  /** An account that can sign in in a browser; also a client that uses its API key. */
  const createPerson = async (role: Role, username: string) => {
    const user = await api.createUser(role, { username })
    await api.sql`update account set password_hash = ${hash} where id = ${user.id}`
    return { ...user, password }
  }
  const [admin, reader] = [await createPerson('admin', 'ada'), await createPerson('reader', 'rob')]
  const contents = await Promise.all(
    books.map(async name => [webBooks[name].path, await webBooks[name].bytes()] as const),
  )
  const library = await createTestLibrary(t, api, { ...Object.fromEntries(contents), ...files })
  if (books.length > 0 || Object.keys(files).length > 0) await library.scan()
  const rows = await library.books()
  const idsOf = (name: WebBookName) => {
    const row = rows.find(({ folder, name: file }) => webBooks[name].path === `${folder}/${file}`)
    return row && { id: row.id, seriesId: row.seriesId, ...webBooks[name] }
  }
  const byName = Object.fromEntries(books.map(name => [name, idsOf(name)!]))
  if (byName.webtoon)
    await admin.patch(`/series/${byName.webtoon.seriesId}/metadata`, {
      readingDirection: 'webtoon',
    })
  return {
    ...api,
    library,
    createPerson,
    /** May do everything. */
    admin,
    /** May read everything. */
    reader,
    /** Ids of `books` by name. */
    books: byName as Record<WebBookName, NonNullable<ReturnType<typeof idsOf>>>,
  }
}
