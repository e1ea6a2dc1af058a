// Matching in the web application: a library with a preview, another choice for one series, undo; ebooks; and what the
// kinds of account see of it.
import { test } from 'tap'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { startCatalogService } from '../kit/web/catalog-service.ts'
import { testWithPages, waitUntil } from '../kit/web/page.ts'

const feed = `<rss version="2.0"><channel><title>New comics</title>
  <item><title>Tower Stories v02</title><link>https://example.org/2</link></item></channel></rss>`

test('matching', { skip: skipWithoutBrowser(6) }, async t => {
  const service = await startCatalogService(t, {
    series: [
      { id: 's1', name: 'Tower Stories', about: 'High up.', year: 2001 },
      { id: 's2', name: 'Tower Stories Deluxe', about: 'Higher up.', year: 2010 },
    ],
    books: [{ id: 'b1', name: 'The Mill', about: 'By the river.', people: ['Jo Novel'] }],
  })
  const app = await startApp(t, {
    settings: { 'source.allowed_networks': '127.0.0.0/8' },
    books: ['webtoon', 'novel'],
  })
  const { admin, reader, books } = app
  const testPages = testWithPages(t, app)
  const summaryOf = async (path: string) => (await reader.get(`${path}/metadata`)).body.summary
  const webtoon = `/series/${books.webtoon.seriesId}`
  const novel = `/books/${books.novel.id}`
  const { config } = service

  await testPages('without a source, there is a way to add one', async (t, open) => {
    const page = await open('/admin/matching')
    await page.getByRole('link', { name: 'Add source' }).waitFor()
    t.same(await accessibilityProblems(page), [])
  })

  const source = { type: 'http', name: 'catalog', displayName: 'Catalog', config, enabled: true }
  await admin.post('/admin/sources', source)

  await testPages('a library: preview, match, another choice, undo', async (t, open) => {
    const page = await open('/admin/matching')
    await page.getByRole('button', { name: 'Preview' }).click()
    const row = page.getByRole('row', { name: /^Tower Stories/ })
    await row.getByText('Tower Stories (2001)').waitFor()
    await row.getByText('100%').waitFor()
    const choices = page.getByLabel('Source').getByRole('option')
    t.same(await choices.allTextContents(), ['Catalog'], 'only what can be chosen is offered')
    await page.getByRole('row', { name: /^Mill/ }).getByText('No match').waitFor()
    t.not(await summaryOf(webtoon), 'High up.', 'nothing has changed')
    t.same(await accessibilityProblems(page), [])

    await page.getByRole('button', { name: 'Match the library' }).click()
    await waitUntil(async () => (await summaryOf(webtoon)) === 'High up.')
    const undo = page.getByRole('button', { name: 'Undo: Tower Stories' })
    await undo.waitFor()
    await page.getByText('→ Tower Stories (2001)').waitFor()
    await page.getByRole('button', { name: 'Choose another: Tower Stories' }).click()
    const dialog = page.getByRole('dialog', { name: 'Find metadata: Tower Stories' })
    await dialog.getByText('Catalog: Matched').waitFor()
    await dialog.getByRole('button', { name: /Tower Stories Deluxe/ }).click()
    await dialog.getByText('Higher up.').waitFor()
    await page.getByText('Started in the background').waitFor()
    t.same(await accessibilityProblems(page), [])
    await dialog.getByRole('button', { name: /Apply \d field/ }).click()
    await dialog.waitFor({ state: 'detached' })
    await waitUntil(async () => (await summaryOf(webtoon)) === 'Higher up.')

    await page.getByRole('button', { name: 'Undo: Tower Stories Deluxe' }).click()
    await page.getByText(/fields? as before/).waitFor()
    t.equal(await summaryOf(webtoon), null)
    await page.getByRole('link', { name: /Undone/ }).click()
    await page.getByRole('button', { name: 'Find metadata: Tower Stories' }).waitFor()
  })

  await testPages(
    'an ebook is looked up from its page, and a fault is shown in words',
    async (t, open) => {
      const page = await open(novel)
      const dialog = page.getByRole('dialog')
      service.state.fault = '<html>Checking your browser</html>'
      page.expectProblem(/502/)
      await page.getByRole('button', { name: 'Find metadata' }).click()
      await page.getByText(/The response is not JSON/).waitFor()
      service.state.fault = null
      await dialog.getByRole('button', { name: 'Search' }).click()
      await dialog.getByRole('button', { name: /The Mill/ }).click()
      await dialog.getByText('By the river.').waitFor()
      await dialog.getByRole('button', { name: /Apply \d field/ }).click()
      await page.getByText('By the river.').waitFor()
      await page.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByText('By the river.').waitFor({ state: 'detached' })
      t.not(await summaryOf(novel), 'By the river.')
    },
  )

  await testPages('settings of the automatic matching are stored', async (t, open) => {
    const page = await open('/admin/sources')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'Automatic matching' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Priority').fill('70')
    await dialog.getByLabel('Search text').fill('{{metadata.title}} comic')
    await dialog.getByText(/: .+ comic$/).waitFor()
    await dialog.getByLabel('May set all fields').uncheck()
    await dialog.getByLabel('Cover', { exact: true }).uncheck()
    await dialog.getByRole('button', { name: 'Add condition' }).click()
    await dialog.getByLabel('Value').fill('Tower')
    t.same(await accessibilityProblems(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const [stored] = await app.sql`select matching from source`
    t.match(stored!.matching, {
      ...{ priority: 70, searchTemplate: '{{metadata.title}} comic', libraryIds: null },
      conditions: {
        mode: 'all',
        rules: [{ field: 'metadata.title', operator: 'contains', value: 'Tower' }],
      },
    })
    t.ok(stored!.matching.fields.includes('title') && !stored!.matching.fields.includes('cover'))
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'Failures' }).click()
    await dialog.getByText('The response is not JSON').waitFor()
  })

  await testPages(
    'a feed of releases is added, read, turned off and started over',
    async (t, open) => {
      const page = await open('/admin/sources')
      await page.getByRole('button', { name: 'Add source' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Add a feed of releases' }).click()
      await dialog.getByLabel('Name').fill('New comics')
      await dialog.getByLabel('Address of the feed').fill(`${service.base}/feed`)
      service.state.fault = feed
      await dialog.getByRole('button', { name: 'Add source' }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'New comics' }).waitFor()
      const row = page.locator('.release-lists li')
      await row.getByRole('button', { name: 'Read now' }).click()
      await row
        .getByText(/Read .*ago|Read now/)
        .first()
        .waitFor()
      await row.getByRole('button', { name: 'More' }).click()
      await page.getByRole('button', { name: 'Schedule' }).click()
      await dialog.getByLabel('Schedule').fill('every day')
      page.expectProblem(/400 PATCH/)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByLabel('Schedule').fill('0 5 * * *')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await row
        .getByText(/5:00 AM|05:00/)
        .first()
        .waitFor()
      t.same(await accessibilityProblems(page), [])
      await row.getByRole('button', { name: 'More' }).click()
      await page.getByRole('button', { name: 'Turn off' }).click()
      await row.getByText('Turned off').waitFor()
      const [list] = await app.sql`select enabled, cron_schedule as cron from release_source`
      t.same(list, { enabled: false, cron: '0 5 * * *' })
      service.state.fault = null
    },
  )

  await testPages('a reader is offered none of it', async (t, open) => {
    const page = await open(novel, { account: app.reader })
    await page.getByRole('heading', { name: 'The Mill' }).waitFor()
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page
      .getByRole('button', { name: 'Mark as unread' })
      .or(page.getByRole('button', { name: 'Mark as read' }))
      .first()
      .waitFor()
    t.equal(await page.getByRole('button', { name: 'Find metadata' }).count(), 0)
  })
})
