// Hidden content appears in no view, response or event of a restricted account's browser.
import type { Response } from 'playwright-core'
import { test } from 'tap'
import { hideSeries } from '../kit/accounts.ts'
import { password, startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { type AppPage, testWithPages, waitUntil } from '../kit/web/page.ts'
import { readerViews, visit } from '../kit/web/views.ts'

test('a restricted account', { skip: skipWithoutBrowser(2) }, async t => {
  const app = await startApp(t, { books: ['comic', 'comic2', 'manga', 'novel'] })
  const { admin, reader, books, library } = app
  const { manga, novel, comic } = books
  const hidden = [manga, novel]
  const named = { name: 'Mixed', summary: 'Of several series' }
  const seriesIds = [comic.seriesId, manga.seriesId, novel.seriesId]
  const bookIds = [comic.id, manga.id, novel.id]
  const collection = await admin.post('/collections', { ...named, seriesIds })
  const readList = await admin.post('/readlists', { ...named, bookIds })
  // The account has read and wanted the books before they were hidden.
  for (const { id } of hidden) await reader.put(`/books/${id}/progress`, { currentPage: 2 })
  await reader.post('/want-to-read/bulk', { seriesIds, bookIds })
  await hideSeries(
    app.sql,
    reader.id,
    hidden.map(({ seriesId }) => seriesId),
  )
  const secrets = [
    ...hidden.flatMap(({ id, seriesId, title, path }) => [
      id,
      seriesId,
      title,
      path.split('/')[0]!,
    ]),
    'Carla Novelist',
  ]
  const leaks = (text: string) => secrets.filter(secret => text.includes(secret))

  const testPages = testWithPages(t, app)
  await testPages('sees nothing that is hidden', async (t, open) => {
    const page = await open(null, { account: reader })
    const received = await recordReceived(page)
    await page.goto(app.base)
    const ids = {
      library,
      seriesIds: [comic.seriesId],
      bookIds: [comic.id],
      collection: collection.body.id,
      readList: readList.body.id,
    }
    // Parts of names, because what is searched for is shown.
    for (const path of [...readerViews(ids), '/search?q=Kits', '/search?q=Mil']) {
      await visit(page, path)
      t.same(leaks(await page.content()), [], path)
    }
    // The server sends no event of what is hidden, and this one afterwards.
    for (const { seriesId } of [...hidden, comic])
      t.equal((await admin.patch(`/series/${seriesId}/metadata`, { year: 1999 })).status, 200)
    await waitUntil(async () => received.events.some(data => data.includes(comic.seriesId)))
    t.same(page.problems(), [])

    page.expectProblem(/^404 GET /)
    for (const { id, seriesId, title } of hidden)
      for (const path of [`/series/${seriesId}`, `/books/${id}`, `/books/${id}/read`]) {
        await visit(page, path)
        await page.getByText('Not found').first().waitFor()
        t.notOk((await page.content()).includes(title), path)
      }
    const texts = [...(await received.bodies()), ...received.events]
    t.ok(texts.length > 30, `${texts.length} responses and events`)
    t.same(
      texts.filter(text => leaks(text).length > 0),
      [],
    )
  })

  await testPages(
    'sees no covers of lists that are of the account that signed out',
    async (t, open) => {
      const page = await open('/collections')
      const cover = page.locator(`img[src*="${collection.body.id}/thumbnail"]`)
      const before = await cover.getAttribute('src')
      await page.getByRole('button', { name: 'Account ada' }).click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('User name').fill('rob')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Account rob' }).waitFor()
      t.not(await cover.getAttribute('src'), before)
    },
  )
})

/** Bodies of the responses of the API and data of the events that a page receives from now on. */
async function recordReceived(page: AppPage) {
  const events: string[] = []
  const responses: Response[] = []
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Network.enable')
  devTools.on('Network.eventSourceMessageReceived', ({ data }) => void events.push(data))
  page.on('response', response => {
    const type = response.headers()['content-type'] ?? ''
    if (type.includes('json')) responses.push(response)
  })
  return {
    events,
    bodies: async () =>
      // Requests canceled by the page have no body.
      await Promise.all(responses.map(response => response.text().catch(() => ''))),
  }
}
