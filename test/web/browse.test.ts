// Browsing in the web application: long lists, letters, filters in the address, search, live changes, states of books.
import { test } from 'tap'
import { newId } from '../../lib/base/id.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { comic } from '../kit/library.ts'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import {
  type AppPage,
  horizontalOverflow,
  type OpenPage,
  type PageOptions,
  testWithPages,
  waitUntil,
} from '../kit/web/page.ts'

const manySeries = 3_000
const maxCells = 200
const letters = 'abcdefghijklmnopqrstuvwxyz'
/** Problems with books that are rows without a file. */
const noCover = /^404 GET .*\/books\/.*thumbnail/

test('browsing', { skip: skipWithoutBrowser(10) }, async t => {
  const app = await startApp(t, {
    books: ['comic', 'comic2', 'novel'],
    files: { 'Broken/1.cbz': Buffer.from('this is no archive') },
  })
  const { admin, reader, books, library, sql } = app
  const catalog = await insertSeries(sql)
  const testPages = testWithPages(t, app)

  await testPages(
    'a list of thousands is a window of cards with a height that stays',
    async (t, open) => {
      const page = await open(`/libraries/${catalog}`)
      await page.getByText('3,000 series').waitFor()
      await page.getByText('a 0000', { exact: true }).waitFor()
      const height = await page.evaluate<number>('document.documentElement.scrollHeight')
      for (const place of [0.3, 0.7, 1]) {
        await page.evaluate(`scrollTo(0, ${place} * document.documentElement.scrollHeight)`)
        await cellInView(page).waitFor()
        t.ok((await page.locator('.lists-cell').count()) <= maxCells)
      }
      await page.getByText('z 2989', { exact: true }).waitFor()
      t.equal(await page.evaluate<number>('document.documentElement.scrollHeight'), height)
    },
  )

  await testPages(
    'letters lead to their first series, and back to the same place',
    async (t, open) => {
      const page = await open(`/libraries/${catalog}`)
      page.expectProblem(noCover)
      await page.getByRole('button', { name: 'Jump to M' }).click()
      await page.getByText('m 0012', { exact: true }).click()
      await page.getByRole('heading', { name: 'm 0012', level: 1 }).waitFor()
      await page.goBack()
      await page.getByText('m 0012', { exact: true }).waitFor()
      t.ok((await page.evaluate<number>('scrollY')) > 1_000)
      await page.getByRole('button', { name: 'Ascending. Change to descending' }).click()
      await page.getByText('z 2989', { exact: true }).waitFor()
      t.match(page.url(), /sort=title%2Cdesc/)
      await page.goBack()
      await page.getByText('a 0000', { exact: true }).waitFor()
    },
  )

  await testPages('arrow keys move through a grid', async (t, open) => {
    const page = await open(`/libraries/${catalog}`)
    await page.locator('.lists-cell .lists-link').first().focus()
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft']) {
      await page.keyboard.press(key)
      await page.locator('.lists-cell .lists-link:focus').waitFor()
    }
    await page.keyboard.press('End')
    await page.locator('[data-index="2999"] .lists-link:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'z 2989', level: 1 }).waitFor()
    t.match(page.url(), /\/series\//)
  })

  await testPages('filters are in the address, and are saved', async (t, open) => {
    const page = await open('/series')
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('button', { name: /^Adventure/ }).click()
    await page.getByRole('button', { name: 'Save these filters' }).click()
    await page.getByLabel('Filter name').fill('Adventures')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Adventures', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show 1 series' }).click()
    await page.getByText('Star Harbour', { exact: true }).waitFor()
    t.equal(new URL(page.url()).searchParams.get('genre'), 'Adventure')
    await page.goBack()
    await page.getByText('3,003 series').waitFor()
    await page.goForward()
    await page.getByText('1 series').waitFor()
    await page.getByRole('button', { name: 'Remove filter Genre: Adventure' }).click()
    await page.getByText('3,003 series').waitFor()
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('button', { name: 'Adventures', exact: true }).click()
    await page.getByText('Star Harbour', { exact: true }).waitFor()
    await page.goto(`${app.base}/series?genre.not=Adventure&year=2000-`)
    await page.getByText('No matching series').waitFor()
  })

  await testPages('series, books and lists are found as one types', async (t, open) => {
    await admin.post('/collections', { name: 'Harbours', seriesIds: [books.comic.seriesId] })
    const page = await open('/')
    page.expectProblem(noCover)
    await page.getByRole('heading', { name: 'New books' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('harb')
    await page.getByRole('region', { name: 'Collections' }).getByText('Harbours').waitFor()
    await page.getByText('Star Harbour', { exact: true }).waitFor()
    t.equal(new URL(page.url()).searchParams.get('q'), 'harb')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Star Harbour', level: 1 }).waitFor()
  })

  await testPages('changes appear by themselves', async (t, open) => {
    const page = await openLive(open, '/', { base: app.base, account: reader })
    page.expectProblem(noCover)
    await page.getByRole('heading', { name: 'New series' }).waitFor()
    await reader.put(`/books/${books.comic.id}/progress`, { currentPage: 3 })
    const shelf = page.getByRole('region', { name: 'Keep reading' })
    await shelf.getByText('The Lighthouse').waitFor()
    await shelf.getByText('50% read').waitFor({ state: 'attached' })
    library.write('New Moon/1.cbz', comic())
    await library.scan()
    await page.getByRole('region', { name: 'New series' }).getByText('New Moon').waitFor()
    await goLive(page, `${app.base}/books/${books.comic.id}`)
    await page.getByText('Page 3 of 6').waitFor()
    await reader.put(`/books/${books.comic.id}/progress`, { currentPage: 5 })
    await page.getByText('Page 5 of 6').waitFor()
    t.pass()
  })

  await testPages('shelves take their places once those above are known', async (t, open) => {
    const page = await open(null)
    page.expectProblem(noCover)
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route(/\/books\/in-progress/, async route => {
      await held
      await route.continue()
    })
    const last = page.waitForResponse(/\/series\/recently-updated/)
    await page.goto(app.base)
    await last
    await page.locator('.lists-shelf.loading').first().waitFor()
    t.equal(await page.getByRole('heading', { name: 'New series' }).count(), 0)
    release()
    await page.getByRole('heading', { name: 'New series' }).waitFor()
  })

  await testPages('a cover is requested again after errors', async (t, open) => {
    const page = await open(null)
    let refused = 0
    await page.route(/\/series\/[^/]+\/thumbnail/, async route => {
      if (refused === 2) return await route.continue()
      refused++
      await route.fulfill({ status: 503 })
    })
    await page.goto(`${app.base}/series/${books.comic.seriesId}`)
    await waitUntil(() =>
      page.evaluate<boolean>(
        'document.querySelector(".browse-detail-cover img")?.naturalWidth > 0',
      ),
    )
    t.equal(refused, 2)
  })

  await testPages('menus stay within the window of a phone', async (t, open) => {
    const page = await open(`/libraries/${catalog}`, { width: 390, height: 844 })
    await page.locator('.browse-letters .button').click()
    const { x, width } = (await page.locator('.menu-content').boundingBox())!
    t.ok(x >= 0 && x + width <= 390, `from ${x}, ${width} wide`)
    t.equal(await horizontalOverflow(page), 0)
  })

  await testPages(
    'several books are marked; the reason why a file cannot be read is shown',
    async (t, open) => {
      const page = await open(`/series/${books.comic.seriesId}`)
      await page.getByRole('checkbox', { name: 'Select The Lighthouse' }).check()
      await page.getByRole('checkbox', { name: 'Select The Tide' }).check()
      await page.getByRole('toolbar').getByRole('button', { name: 'Mark as read' }).click()
      await page.locator('.lists-badge.success').nth(1).waitFor()
      t.equal((await admin.get(`/series/${books.comic.seriesId}`)).body.readCount, 2)
      const broken = await admin.get('/books/errors')
      const [{ book }] = broken.body.data
      await page.goto(`${app.base}/books/${book.id}`)
      await page.getByText('not_an_archive').waitFor()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      const other = await open(`/books/${book.id}`, { account: reader })
      await other.getByText('The content of the file does not match its extension.').waitFor()
      t.equal(await other.getByText('not_an_archive').count(), 0)
      t.equal(await other.getByRole('link', { name: 'Read', exact: true }).count(), 0)
    },
  )
})

/** A library of series with a book each, some for each letter. */
async function insertSeries(sql: Sql): Promise<string> {
  const [id, directory] = [newId(), newId()]
  await sql`
    insert into library (id, name, root, series_count, book_count)
    values (${id}, 'Catalog', ${Buffer.from(`/${id}`)}, ${manySeries}, ${manySeries})`
  await sql`insert into directory (id, library_id, path) values (${directory}, ${id}, 'a'::bytea)`
  await sql`
    insert into series (id, library_id, key, name, title, sort_key, search_key, name_key, book_count)
    select gen_random_uuid(), ${id}, title, title, title, title, title, title, 1
    from (
      select substr(${letters}::text, n % 26 + 1, 1) || ' ' || lpad(n::text, 4, '0') as title
      from generate_series(0, ${manySeries}::integer - 1) n) as titles`
  await sql`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, title, sort_key,
      search_key, name_key, page_count, fingerprint)
    select gen_random_uuid(), ${id}, s.id, ${directory}, s.name::bytea, 1, 1, s.name, s.name, s.name,
      s.name, 10, '\\x00'
    from series s where s.library_id = ${id}`
  await sql`insert into book_artifact (book_id, cover_error) select id, 'none' from book where library_id = ${id}`
  return id
}

/** A card with its series, not a blank one. */
const cellInView = (page: AppPage) =>
  page.locator('.lists-cell:not(.blank) .lists-card:not(.loading)').first()

/** A page that receives events; what happened before it does is not sent. */
async function openLive(
  open: OpenPage,
  path: string,
  { base, ...options }: PageOptions & { base: string },
) {
  const page = await open(null, options)
  await goLive(page, base + path)
  return page
}

async function goLive(page: AppPage, url: string) {
  const stream = page.waitForResponse(/\/events\/stream/)
  await page.goto(url)
  await stream
}
