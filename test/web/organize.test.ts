// Organizing in the web application: metadata with locks, covers, collections, read lists, read state, want to read,
// ratings, statistics.
import { test } from 'tap'
import { newId } from '../../lib/base/id.ts'
import { hideSeries } from '../kit/accounts.ts'
import { cblFile } from '../kit/files/cbl.ts'
import { exampleImage } from '../kit/files/images.ts'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { type AppPage, horizontalOverflow, testWithPages, waitUntil } from '../kit/web/page.ts'

const openMenu = (page: AppPage) =>
  page.locator('main').getByRole('button', { name: 'More', exact: true }).first().click()

const editor = async (page: AppPage, item: string) => {
  await openMenu(page)
  await page.locator('.menu-content').getByRole('button', { name: item, exact: true }).click()
  return page.getByRole('dialog').first()
}

test('organizing', { skip: skipWithoutBrowser(8) }, async t => {
  const app = await startApp(t, { books: ['comic', 'comic2', 'manga', 'webtoon'] })
  const { admin, reader, books, sql } = app
  const { comic, comic2, manga, webtoon } = books
  const testPages = testWithPages(t, app)
  const metadataOf = async (id: string) => (await admin.get(`/series/${id}/metadata`)).body

  await testPages('metadata is saved as what changed, and locked', async (t, open) => {
    const page = await open(`/series/${comic.seriesId}`)
    const dialog = await editor(page, 'Edit')
    await dialog.getByLabel('Year', { exact: true }).fill('2018')
    await dialog.getByRole('button', { name: /^Year: locked/ }).waitFor()
    await dialog.getByLabel('Language', { exact: true }).fill('no language!')
    await dialog.getByRole('tab', { name: 'Genres and tags' }).click()
    await dialog.getByLabel('Tags', { exact: true }).fill('Lighthouses')
    await page.keyboard.press('Enter')
    page.expectProblem(/^400 PATCH .*metadata$/)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Enter a language tag').waitFor()
    t.not((await metadataOf(comic.seriesId)).year, 2018, 'nothing is saved')
    await dialog.getByLabel('Language', { exact: true }).fill('en')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { year, language, tags, locks } = await metadataOf(comic.seriesId)
    t.match(
      { year, language, tags },
      { year: 2018, language: 'en', tags: [{ name: 'Lighthouses' }] },
    )
    const locked = Object.keys(locks).filter(name => locks[name])
    t.same(locked.sort(), ['language', 'tags', 'year'])
  })

  await testPages('changes of others are not overwritten, nor own ones lost', async (t, open) => {
    const page = await open(`/series/${manga.seriesId}`)
    const dialog = await editor(page, 'Edit')
    await dialog.getByLabel('Summary', { exact: true }).fill('A fox on its way.')
    await admin.patch(`/series/${manga.seriesId}/metadata`, { publisher: 'Elsewhere' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('This was changed elsewhere in the meantime').waitFor()
    await dialog.getByRole('tab', { name: 'Publication' }).click()
    await dialog.locator('input').first().and(dialog.getByLabel('Publisher')).waitFor()
    await page.waitForFunction("document.querySelector('dialog input').value === 'Elsewhere'")
    await page.keyboard.press('Escape')
    await page
      .getByRole('dialog', { name: 'Discard changes?' })
      .getByRole('button', { name: 'Cancel' })
      .click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { summary, publisher } = await metadataOf(manga.seriesId)
    t.match({ summary, publisher }, { summary: 'A fox on its way.', publisher: 'Elsewhere' })
  })

  await testPages('a cover is uploaded and taken back', async (t, open) => {
    const page = await open(`/series/${comic.seriesId}`)
    const dialog = await editor(page, 'Choose cover')
    const png = { name: 'cover.png', mimeType: 'image/png', buffer: await exampleImage('png') }
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ ...png, name: 'a.txt', mimeType: 'text/plain' })
    await dialog.getByText('a.txt is not a readable image.').waitFor()
    await dialog.locator('input[type=file]').setInputFiles(png)
    await dialog.getByRole('button', { name: '550 × 368', pressed: true }).waitFor()
    await dialog.getByRole('button', { name: 'Automatic' }).click()
    await dialog.getByRole('button', { name: 'Automatic', pressed: true }).waitFor()
    t.notOk((await admin.get(`/series/${comic.seriesId}/covers`)).body.covers[0].isSelected)
  })

  await testPages(
    'a collection is made, arranged by keyboard, and taken apart',
    async (t, open) => {
      const page = await open('/collections')
      await page.locator('.page-header').getByRole('button', { name: 'New collection' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Shelf')
      await page.getByLabel('Arrange by hand').check()
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('heading', { name: 'Shelf', level: 1 }).waitFor()
      const id = page.url().split('/').at(-1)!
      const ids = [comic.seriesId, manga.seriesId, webtoon.seriesId]
      await admin.post(`/collections/${id}/series`, { seriesIds: ids })
      await page.getByText('3 series').waitFor()
      await page.getByRole('button', { name: 'Arrange' }).click()
      await page.getByRole('button', { name: /^Tower Stories, position 3/ }).focus()
      await page.keyboard.press('ArrowUp')
      await page.getByText('Tower Stories moved to position 2 of 3').waitFor({ state: 'attached' })
      const handle = page.getByRole('button', { name: /^Tower Stories, position 2/ })
      await handle.and(page.locator(':focus')).waitFor()
      const titles = (await admin.get(`/collections/${id}/series`)).body.data.map(
        ({ title }: any) => title,
      )
      t.same(titles, ['Star Harbour', 'Tower Stories', 'Kitsune'])
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('checkbox', { name: 'Select Kitsune' }).check()
      await page.getByRole('toolbar').getByRole('button', { name: 'Remove' }).click()
      await page.getByText('2 series').first().waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('3 series').first().waitFor()
      await hideSeries(sql, reader.id, [manga.seriesId])
      const other = await open(`/collections/${id}`, { account: reader, width: 390 })
      await other.getByText('2 series').waitFor()
      t.equal(await other.getByText('Kitsune').count(), 0)
      t.equal(await other.getByRole('button', { name: 'Edit' }).count(), 0)
      t.equal(await horizontalOverflow(other), 0)
      await openMenu(page)
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('heading', { name: 'No collections yet' }).waitFor()
    },
  )

  await testPages('a read list is imported, with a report, and read on', async (t, open) => {
    const buffer = cblFile('Crossing', [
      { series: 'Star Harbour', number: '1' },
      { series: 'Star Harbour', number: '2' },
      { series: 'Unknown Waters', number: '9' },
    ])
    await admin.post(`/books/${comic.id}/read`)
    const page = await open('/readlists')
    await page.getByRole('button', { name: 'Import CBL' }).click()
    const file = { name: 'crossing.cbl', mimeType: 'text/xml', buffer }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('2 books found · 1 not found').waitFor()
    await page.getByRole('button', { name: 'Create with 2 books' }).click()
    await page.getByRole('heading', { name: 'Crossing', level: 1 }).waitFor()
    t.same(await accessibilityProblems(page), [])
    await page.getByRole('button', { name: 'Continue reading' }).click()
    await page.waitForURL(`**/books/${comic2.id}/read?readlist=*`)
  })

  await testPages('marking as read can be undone, with the position', async (t, open) => {
    await admin.put(`/books/${webtoon.id}/progress`, { currentPage: 2 })
    const page = await open(`/series/${webtoon.seriesId}`)
    await editor(page, 'Mark as read')
    await page.getByText('1 book marked as read').waitFor()
    t.ok((await admin.get(`/books/${webtoon.id}/progress`)).body.completed)
    const restored = page.waitForResponse(
      response => response.request().method() === 'GET' && /read-history$/.test(response.url()),
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await restored
    const progress = await admin.get(`/books/${webtoon.id}/progress`)
    t.match(progress.body, { currentPage: 2, completed: false })
  })

  await testPages('stars by keyboard; what one wants to read in order', async (t, open) => {
    const ids = { seriesIds: [comic.seriesId, manga.seriesId], bookIds: [webtoon.id] }
    await admin.post('/want-to-read/bulk', ids)
    const page = await open('/want-to-read?mode=arrange')
    await page.getByRole('button', { name: /^Ground Floor, position 3/ }).focus()
    await page.keyboard.press('Home')
    await page.getByRole('button', { name: /^Ground Floor, position 1/ }).waitFor()
    const { data: items } = (await admin.get('/want-to-read?sort=custom')).body
    t.equal(items[0].bookId, webtoon.id)
    const stream = page.waitForResponse(/\/events\/stream/)
    await page.goto(`${app.base}/series/${comic.seriesId}`)
    await stream
    await page.getByRole('slider', { name: 'Your rating' }).focus()
    await page.keyboard.press('4')
    await page.keyboard.press('ArrowRight')
    const rating = async () => (await admin.get(`/series/${comic.seriesId}/rating`)).body?.rating
    await waitUntil(async () => (await rating()) === 90)
    t.equal(await page.locator('.rating-average').count(), 0, 'the average of one rating')
    // On another device.
    await admin.put(`/series/${comic.seriesId}/rating`, { rating: 60 })
    await page.locator('[role=slider][aria-valuenow="3"]').waitFor()
    await page.getByRole('button', { name: 'Want to read', pressed: true }).waitFor()
    await admin.delete(`/want-to-read/series/${comic.seriesId}`)
    await page.getByRole('button', { name: 'Want to read', pressed: false }).waitFor()
  })

  await testPages('statistics show what was read, as charts and tables', async (t, open) => {
    const day = (days: number, minutes: number) => {
      const end = Date.now() - days * 86_400_000
      return {
        ...{
          id: newId(),
          bookId: comic.id,
          deviceId: 'phone',
          deviceName: 'Phone',
          kind: 'progress',
        },
        ...{ toPage: 2, pagesRead: 12, activeDurationMs: minutes * 60_000 },
        clientStartedAt: new Date(end - minutes * 60_000).toISOString(),
        clientEndedAt: new Date(end).toISOString(),
      }
    }
    const sessions = [day(3, 30), day(4, 45), day(60, 20)]
    await app.reader.post('/reading-sessions', { sessions })
    const page = await open('/statistics?period=30', { account: reader, width: 390 })
    await page
      .getByText(/^1\s?h 15\s?m/)
      .first()
      .waitFor()
    t.equal(await horizontalOverflow(page), 0)
    await page.getByRole('button', { name: '90 days' }).click()
    await page
      .getByText(/^1\s?h 35\s?m/)
      .first()
      .waitFor()
    t.equal(new URL(page.url()).searchParams.get('period'), '90')
    await page.getByRole('button', { name: 'Week' }).click()
    await page.locator('.bar-chart svg').waitFor()
    t.same(await accessibilityProblems(page), [])
    const chart = page.getByRole('region', { name: 'Devices' })
    await chart.getByRole('button', { name: 'As a table' }).click()
    await chart.getByRole('rowheader', { name: 'Phone' }).waitFor()
    await openMenu(page)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export as CSV' }).click()
    t.match((await download).suggestedFilename(), /^reading-.*\.csv$/)
    await openMenu(page)
    await page.getByRole('button', { name: 'Delete history' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete history' }).click()
    await page.getByRole('heading', { name: 'Nothing read yet' }).waitFor()
  })
})
