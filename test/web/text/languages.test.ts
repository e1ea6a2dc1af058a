// Views in other languages: translated in full, without horizontal scrolling on a phone and a desktop, and mirrored
// where the script runs from right to left.
import { hostname } from 'node:os'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { languages } from '../../../lib/web/app/text/languages.ts'
import { startApp } from '../../kit/web/app.ts'
import { webBooks } from '../../kit/web/books.ts'
import { skipWithoutBrowser } from '../../kit/web/browser.ts'
import { horizontalOverflow, testWithPages, waitUntil } from '../../kit/web/page.ts'
import { readCatalog } from '../../kit/web/texts.ts'
import { adminViews, fillViews, readerViews, visit } from '../../kit/web/views.ts'

const keys = new Set(Object.keys(readCatalog('en')))

/** What people see and hear: texts, options, names for screen readers, tooltips and placeholders. */
const shownTexts = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found = []
    while (walker.nextNode())
      if (!walker.currentNode.parentElement.closest('script, noscript, #outdated'))
        found.push(walker.currentNode.data)
    for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
      for (const element of document.querySelectorAll('[' + name + ']'))
        found.push(element.getAttribute(name))
    return [...new Set(found.map(text => text.trim()).filter(Boolean))]
  })()`)

/** Names in the books and accounts of the test, and names that are the same in every language. */
const data = [
  webBooks.comic.path,
  ...['The Lighthouse', 'The Tide', 'The Mill', 'Mill', 'Star Harbour', 'Kitsune', 'Field Guide'],
  ...['A lighthouse keeper sees a light that should not exist.', 'Ana Author', 'Ben Penciller'],
  'Carla Novelist',
  ...['Science Fiction', 'Adventure', 'Favourites', 'In order', 'Shelf', 'ada', 'rob', 'test'],
  ...['Stackroom', 'PostgreSQL', 'Node.js', 'OPDS', 'CBZ', 'CBR', 'CB7', 'CBT', 'PDF', 'EPUB'],
  ...[hostname(), 'ar-XB', ...Object.values(languages)],
]
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const isData = new RegExp(
  // Paths, addresses and time zones, keys, then whole words.
  `\\S*[/@]\\S*|stackroom_\\w+|(?<![\\p{L}])(?:${data.map(escaped).join('|')})(?![\\p{L}])`,
  'gu',
)

test('views in other languages', { skip: skipWithoutBrowser(5) }, async t => {
  const app = await startApp(t, { books: ['comic', 'comic2', 'manga', 'pdf', 'novel'] })
  const ids = await fillViews(app)
  const more = ['/releases', '/admin/sources', '/admin/backups']
  const paths = [...readerViews(ids), ...adminViews(ids), ...more]
  const testPages = testWithPages(t, app)

  const settings = [
    { language: 'ja', path: '/', lang: 'ja', dir: 'ltr' },
    // Long words.
    { language: 'de-AT', path: '/', lang: 'de', dir: 'ltr' },
    { language: 'en', path: '/?pseudo-locale', lang: 'ar-XB', dir: 'rtl' },
  ]
  for (const { language, path, lang, dir } of settings)
    await testPages(`are complete and fit in ${lang}`, async (t, open) => {
      const page = await open(path, { language, width: 390 })
      await page.locator('main').waitFor()
      const root = page.locator('html')
      t.same([await root.getAttribute('lang'), await root.getAttribute('dir')], [lang, dir])
      for (const view of paths) {
        await page.setViewportSize({ width: 390, height: 844 })
        await visit(page, view)
        t.equal(await horizontalOverflow(page), 0, `${view} on a phone`)
        await page.setViewportSize({ width: 1440, height: 900 })
        t.equal(await horizontalOverflow(page), 0, `${view} on a desktop`)
        const texts = await shownTexts(page)
        t.same(
          texts.filter(text => keys.has(text)),
          [],
          `${view} shows no keys`,
        )
        if (lang !== 'ar-XB') continue
        const plain = texts.filter(text => /[a-z]{2}/i.test(text.replace(isData, '')))
        t.same(plain, [], `${view} has no texts beside the catalog`)
      }
    })

  await testPages(
    'the chosen language is stored, and only its texts are loaded',
    async (t, open) => {
      const page = await open(null, { language: 'pt-PT' })
      const loaded: string[] = []
      page.on('request', request => {
        const file = /\/text\/([\w-]+)\.json$/.exec(request.url())?.[1]
        if (file) loaded.push(file)
      })
      await page.goto(`${app.base}/account`)
      const select = page.getByLabel('Idioma')
      t.equal(await select.inputValue(), 'pt-BR')
      await page.getByText('Ainda não revisado por um falante nativo.').waitFor()
      t.same(await select.locator('option').allTextContents(), Object.values(languages))
      await select.selectOption('English')
      await page.getByRole('heading', { name: 'Appearance' }).waitFor()
      t.equal(await page.getByText('Not yet reviewed').count(), 0)
      await page.reload()
      await page.getByRole('heading', { name: 'Appearance' }).waitFor()
      t.same(loaded, ['pt-BR', 'en', 'en'])
    },
  )

  await testPages('from right to left, the navigation is on the right', async (t, open) => {
    const page = await open('/series?pseudo-locale', { width: 1024 })
    const left = async (selector: string) => (await page.locator(selector).boundingBox())!.x
    await page.locator('main h1').waitFor()
    await waitUntil(async () => (await left('.frame-navigation')) > (await left('main')))
    t.pass('mirrored')
  })
})
