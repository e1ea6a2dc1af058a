// Releases in the web application: following a series, the inbox, dismissing and undoing it.
import { test } from 'tap'
import { insertReleaseSource, item, pollItems } from '../kit/releases/polls.ts'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { testWithPages, waitUntil } from '../kit/web/page.ts'

test('releases', { skip: skipWithoutBrowser(3) }, async t => {
  const app = await startApp(t, { books: ['comic', 'manga'] })
  const { sql, reader, books } = app
  const { seriesId } = books.comic
  const testPages = testWithPages(t, app)
  const [series] = await sql`select title from series where id = ${seriesId}`
  const title = series!.title as string
  const announced = (id: string, n: number) =>
    item({ externalReleaseId: id, seriesTitles: [title], volumes: [{ start: n, end: n }] })
  const source = await insertReleaseSource(sql)

  await testPages('a reader follows a series and clears the inbox', async (t, open) => {
    const page = await open('/releases', { account: app.reader })
    await page.getByText('Follow a series on its page').waitFor()
    const shelf = await open(`/series/${seriesId}`, { account: app.reader })
    await shelf.getByRole('button', { name: 'Follow releases' }).click()
    await shelf.getByRole('button', { name: 'Following releases' }).waitFor()
    t.equal((await reader.get('/releases/inbox')).body.followed, 1)

    await page.reload()
    await page.getByText('1 series followed').waitFor()
    await pollItems(sql, source.id, [announced('a', 31), announced('b', 32)])
    // The event of the announcement reloads both pages.
    await page.getByRole('link', { name: 'Volume 31' }).waitFor()
    await page.getByRole('link', { name: 'Volume 32' }).waitFor()
    await shelf.getByText('2 releases are not in your library').waitFor()
    await shelf.getByText('Next: Volume 31').waitFor()
    await waitUntil(async () => (await reader.get('/releases/inbox')).body.unseen === 0)
    t.same(await accessibilityProblems(page), [])

    await page.getByRole('button', { name: 'Dismiss', exact: true }).first().click()
    await page.getByText('1 release dismissed').waitFor()
    await page
      .getByRole('link', { name: /Volume/ })
      .nth(1)
      .waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page
      .getByRole('link', { name: /Volume/ })
      .nth(1)
      .waitFor()
    await page.getByRole('button', { name: `Dismiss all releases of ${title}` }).click()
    await page.getByText('Nothing new').waitFor()
    const states = await sql`select distinct state from release`
    t.same([...states], [{ state: 'announced' }], 'for others they are as before')
    t.same(await accessibilityProblems(shelf), [])
  })

  await testPages('how releases are found is set on the page of the series', async (t, open) => {
    const page = await open(`/series/${seriesId}`)
    await page.getByRole('button', { name: 'Tracking' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('New title').fill('Another name')
    await dialog.getByRole('button', { name: 'Add title' }).click()
    await dialog.getByRole('button', { name: 'Remove Another name' }).waitFor()
    t.same(await accessibilityProblems(page), [])
    await pollItems(sql, source.id, [
      item({
        externalReleaseId: 'c',
        seriesTitles: ['Another name'],
        volumes: [{ start: 33, end: 33 }],
      }),
    ])
    t.match((await reader.get(`/series/${seriesId}/releases`)).body.total, 3)
    await dialog.getByRole('button', { name: 'Remove Another name' }).click()
    await dialog.getByRole('button', { name: 'Remove Another name' }).waitFor({ state: 'detached' })
    await dialog.getByLabel('Last volume outside the library').fill('31')
    await dialog.getByLabel('Languages').fill('en ja')
    await dialog.getByLabel('Chapters').uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.match((await reader.get(`/series/${seriesId}/tracking`)).body, {
      ...{ tracked: true, trackVolumes: true, trackChapters: false },
      ...{ latestKnownVolume: 31, latestKnownChapter: null, languages: ['en', 'ja'] },
    })
    const other = await open(`/series/${seriesId}`, { account: app.reader })
    await other.getByRole('button', { name: 'Following releases' }).waitFor()
    t.equal(await other.getByRole('button', { name: 'Tracking' }).count(), 0)
  })

  await testPages('another account has an inbox of its own', async (t, open) => {
    const page = await open('/releases')
    await page.getByText('Follow a series on its page').waitFor()
    const shelf = await open(`/series/${seriesId}`)
    await shelf.getByRole('link', { name: 'Volume 32' }).waitFor()
    t.equal(await shelf.getByRole('button', { name: 'Follow releases' }).count(), 1)
  })
})
