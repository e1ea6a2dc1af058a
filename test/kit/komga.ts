// The Komga-compatible API of a test server, as an administrator enables it.
import type { TestApi } from './server.ts'

type Admin = Pick<Awaited<ReturnType<TestApi['createUser']>>, 'post'>

/** Enables the API, or changes its prefix; the server applies it to the next request. */
export async function enableKomga(
  admin: Admin,
  { enabled = true, prefix = 'komga' } = {},
): Promise<void> {
  const { status } = await admin.post('/admin/settings/bulk', {
    updates: [
      { key: 'komga.enabled', value: enabled },
      { key: 'komga.prefix', value: prefix },
    ],
  })
  if (status !== 200) throw new Error(`The settings were not changed: ${status}`)
}
