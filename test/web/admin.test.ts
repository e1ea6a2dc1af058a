// First start and administration in the browser: set-up token, folder browser, live scan, failed files, duplicates.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { createSetupToken } from '../../lib/accounts/setup.ts'
import { folderWithFiles } from '../kit/files/folders.ts'
import { startApi } from '../kit/server.ts'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { password, shareBuild } from '../kit/web/app.ts'
import { webBooks } from '../kit/web/books.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { horizontalOverflow, testWithPages } from '../kit/web/page.ts'

const broken = 'Broken/Broken 001.cbz'
const phone = { width: 390, height: 844 }

test('first start and administration', { skip: skipWithoutBrowser(8) }, async t => {
  const api = await startApi(t)
  shareBuild(api)
  const [comic, manga] = await Promise.all([webBooks.comic.bytes(), webBooks.manga.bytes()])
  const root = folderWithFiles(t, {
    [webBooks.comic.path]: comic,
    'Copies/Copy 1.cbz': comic,
    [broken]: Buffer.from('PK\x03\x04 not an archive'),
    '.hidden/Secret 1.cbz': manga,
  })
  const testPages = testWithPages(t, { base: api.base, admin: { username: 'ada', password } })
  const libraryId = async () => (await api.sql`select id from library`)[0]!.id as string
  const check = async (t: Test, page: Page) => {
    t.same(await accessibilityProblems(page), [])
    t.equal(await horizontalOverflow(page), 0)
  }

  await testPages('a remote browser needs the set-up token', async (t, open) => {
    const token = await createSetupToken(api.sql)
    const page = await open('/', {
      account: null,
      ...phone,
      options: { extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.7' } },
    })
    page.expectProblem(/^403 POST \/api\/v1\/setup\/initialize$/)
    await page.getByRole('heading', { name: 'Welcome to Stackroom' }).waitFor()
    await page.getByLabel('User name').fill('ada')
    await page.getByLabel('Email address').fill('ada@example.org')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('To show that the server is yours').waitFor()
    await check(t, page)
    await page.getByLabel('Setup token').fill('a guess')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('not the setup token of the running server').waitFor()
    await page.getByLabel('Setup token').fill(token!)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Add your library' }).waitFor()
    t.equal((await api.sql`select 1 from account where role = 'admin'`).length, 1)
  })

  await testPages('the set-up address contains the token', async (t, open) => {
    await api.sql`delete from account`
    await api.sql`delete from session`
    const remote = {
      account: null,
      ...phone,
      options: { extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.7' } },
    }
    const fill = async (page: Page) => {
      await page.getByLabel('User name').fill('ada')
      await page.getByLabel('Email address').fill('ada@example.org')
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Create account' }).click()
    }
    const old = await createSetupToken(api.sql)
    const token = await createSetupToken(api.sql)
    const page = await open(`/setup#token=${old}`, remote)
    page.expectProblem(/^403 POST \/api\/v1\/setup\/initialize$/)
    await fill(page)
    await page.getByText('not the setup token of the running server').waitFor()
    t.equal(await page.getByLabel('Setup token').inputValue(), old)

    const second = await open(`/setup#token=${token}`, remote)
    await fill(second)
    await second.getByRole('heading', { name: 'Add your library' }).waitFor()
    t.match(second.url(), /\/setup$/, 'the token is no longer in the address')
  })

  await testPages('the folder browser goes through the folders of the server', async (t, open) => {
    const page = await open('/setup')
    const path = page.getByLabel('Folder on the server')
    const folders = page.getByRole('list', { name: 'Folders' })
    await path.fill(`${root}/Star Harbour`)
    await page.getByText('No subfolders · 1 file').waitFor()
    await page.getByRole('button', { name: 'Parent folder' }).click()
    await folders.getByRole('button', { name: 'Copies' }).waitFor()
    t.equal(await path.inputValue(), root)
    t.equal(await folders.getByText('.hidden').count(), 0)
    await page.getByLabel('Show hidden folders').check()
    await folders.getByText('.hidden').waitFor()
    page.expectProblem(/^400 /)
    await path.fill(join(root, 'absent'))
    await page.getByText('This folder does not exist on the server.').first().waitFor()
    await page.getByRole('button', { name: 'Add library' }).click()
    await page.locator('.form-error').waitFor()
    await path.fill(root)
    await page.getByText('3 books in 3 series').waitFor()
    t.equal(await page.locator('.form-error').count(), 0, 'an error of what was entered before')
    await check(t, page)
    await page.getByText('More options').click()
    await page.getByLabel('Watch for file changes').selectOption('off')
    await page.getByLabel('Name', { exact: true }).fill('Shelf')
    await page.getByRole('button', { name: 'Add library' }).click()
    await page.getByRole('heading', { name: 'Your library is ready' }).waitFor()
    await page.getByRole('link', { name: '1 failed file' }).waitFor()

    const other = await open('/setup', phone)
    await other.getByRole('heading', { name: 'Your library is ready' }).waitFor()
    await other.getByText('3 books').waitFor()
    t.equal(await horizontalOverflow(other), 0)
  })

  await testPages('a scan is followed, and options are saved', async (t, open) => {
    const id = await libraryId()
    const page = await open(`/admin/libraries/${id}`)
    await page.getByText('3 series · 3 books').waitFor()
    mkdirSync(join(root, 'Kitsune'))
    writeFileSync(join(root, webBooks.manga.path), manga)
    await page.getByRole('button', { name: 'Scan', exact: true }).click()
    await page.getByText('1 added').waitFor()
    await page.getByText('4 series · 4 books').waitFor()
    await page.getByLabel('Scan schedule').selectOption('daily')
    await page.getByLabel('Time', { exact: true }).fill('04:30')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Every day at 4:30').waitFor()
    const [library] = await api.sql`select scanning_config as scanning, root from library`
    t.match(library!.scanning, { cronSchedule: '30 4 * * *', enabled: true, watch: 'off' })
    await page.reload()
    await page.getByLabel('Time', { exact: true }).waitFor()
    t.equal(await page.getByLabel('Time', { exact: true }).inputValue(), '04:30')
  })

  await testPages('what a scan could not read is named', async (_t, open) => {
    const id = await libraryId()
    await api.sql`update library set follow_links = true where id = ${id}`
    symlinkSync('Lost.cbz', join(root, 'Lost.cbz'))
    const page = await open(`/admin/libraries/${id}`)
    await page.getByRole('button', { name: 'Scan', exact: true }).click()
    await page.getByText('could not be read; its books were left unchanged: Lost.cbz').waitFor()
    await page.goto(`${api.base}/admin/libraries`)
    await page.getByText('left unchanged: Lost.cbz').waitFor()
    rmSync(join(root, 'Lost.cbz'))
    await api.sql`update library set follow_links = false where id = ${id}`
  })

  await testPages(
    'backups: what is missing, what failed, and how old the last one is',
    async (t, open) => {
      await api.sql`
      insert into backup (id, file, ended_at, bytes, error) values
        (gen_random_uuid(), '/mnt/one.backup', now() - interval '2 days', 5000000, null),
        (gen_random_uuid(), '/mnt/two.backup', now(), null, 'The folder has no space')`
      const page = await open('/admin/backups')
      await page.getByText('Last backup 2 days ago').waitFor()
      await page.getByText('set backup.dir in the configuration').waitFor()
      await page.getByText('The folder has no space').waitFor()
      await page.getByText('one.backup').waitFor()
      t.equal(
        await page.getByRole('button', { name: 'Back up now' }).count(),
        0,
        'without a folder',
      )
      await check(t, page)
      // The schedule was set while there was a folder.
      await api.sql`
        insert into setting (key, value) values ('backup.cron', '"0 3 * * *"')
        on conflict (key) do update set value = excluded.value`
      await page.reload()
      await page.getByText('The schedule 0 3 * * * writes nothing').waitFor()
      await api.sql`delete from setting where key = 'backup.cron'`
      await api.sql`delete from backup`
    },
  )

  await testPages(
    'sources: one from a preset, with its key, tested, off and removed',
    async (t, open) => {
      const page = await open('/admin/sources')
      await page.getByText('Nothing is sent to a service before you add it').waitFor()
      // The service itself is not called by tests.
      let answer = { success: false, message: 'comicvine.example refuses access', latencyMs: 5 }
      await page.route('**/admin/sources/*/test', route =>
        route.fulfill({ json: { ...answer, manifest: null } }),
      )
      await page.getByRole('button', { name: 'Add source' }).click()
      await page.getByRole('button', { name: 'Add Comic Vine' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Metadata from Comic Vine').waitFor()
      await check(t, page)
      const key = dialog.getByLabel('API key')
      t.equal(await key.getAttribute('required'), '', 'the key is required')
      await key.fill('web-secret')
      await dialog.getByRole('button', { name: 'Add source' }).click()
      await page.getByRole('heading', { name: 'Comic Vine' }).waitFor()
      await page.getByText('Works', { exact: true }).waitFor()
      const [stored] = await api.sql`select type, name, config, credentials, enabled from source`
      t.match(stored, { type: 'preset', config: { preset: 'comic-vine' }, enabled: true })
      t.notMatch(JSON.stringify(stored), /web-secret/)

      await page.getByRole('button', { name: 'Test', exact: true }).click()
      await page.getByRole('alert').getByText('refuses access').waitFor()
      await check(t, page)
      answer = { ...answer, success: true }
      await page.getByRole('button', { name: 'Test', exact: true }).click()
      await page.getByText('Comic Vine responded in 5 ms').waitFor()
      await page.getByRole('alert').waitFor({ state: 'detached' })

      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('button', { name: 'Turn off' }).click()
      await page.getByText('Turned off').waitFor()
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('button', { name: 'Change credentials' }).click()
      await page.getByRole('dialog').getByLabel('API key').fill('other-secret')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const [changed] = await api.sql`select credentials, enabled from source`
      t.not(changed!.credentials.key, stored!.credentials.key)
      t.equal(changed!.enabled, false)
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('No sources yet').waitFor()
      t.equal((await api.sql`select 1 from source`).length, 0)
    },
  )

  await testPages('failed files have a reason, and are read again', async (_t, open) => {
    const page = await open('/admin/errors')
    await page.getByText(broken).waitFor()
    await page.locator('.error-advice').waitFor()
    writeFileSync(join(root, broken), manga)
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByText('No failed files').waitFor()
  })

  await testPages('duplicates are searched for and dismissed', async (t, open) => {
    const page = await open('/admin/duplicates')
    await page.getByRole('button', { name: 'Search for duplicates' }).click()
    await page.getByText('Copies/Copy 1.cbz').waitFor()
    await page.getByText(webBooks.comic.path).waitFor()
    // Searches after scans may find the group again at any time.
    const deleted = page.waitForResponse(response => response.request().method() === 'DELETE')
    await page.getByRole('button', { name: 'Dismiss' }).first().click()
    t.equal((await deleted).status(), 204)
    t.equal((await api.sql`select 1 from book`).length, 4)
  })

  await testPages('a folder that is away, and the deletion of its library', async (t, open) => {
    const id = await libraryId()
    const page = await open(`/admin/libraries/${id}`)
    await api.sql`update library set root = ${Buffer.from(`${root}-away`)} where id = ${id}`
    await page.getByRole('button', { name: 'Scan', exact: true }).click()
    await page.getByText('network share is mounted').waitFor()
    await page.getByRole('button', { name: 'Delete library' }).click()
    const dialog = page.getByRole('dialog')
    const remove = dialog.getByRole('button', { name: 'Delete library' })
    t.ok(await remove.isDisabled())
    await dialog.getByRole('textbox').fill('Shelf')
    await remove.click()
    await page.getByText('No library yet').waitFor()
  })
})
