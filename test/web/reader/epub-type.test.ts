// Type of an EPUB: fonts of the reader and of the user, line length, hyphenation by language.
import { join } from 'node:path'
import { test } from 'tap'
import { epubBytes, item } from '../../kit/files/epub.ts'
import { accessibilityProblems } from '../../kit/web/accessibility.ts'
import { startApp } from '../../kit/web/app.ts'
import { skipWithoutBrowser } from '../../kit/web/browser.ts'
import { type AppPage, horizontalOverflow, testWithPages, waitUntil } from '../../kit/web/page.ts'

const fontFile = join(import.meta.dirname, '../../../lib/web/app/epub/fonts/opendyslexic.woff2')

/** Without a language in its documents. */
const german = epubBytes({
  metadata:
    '<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">Fahrt</dc:title><dc:language xmlns:dc="http://purl.org/dc/elements/1.1/">de</dc:language>',
  manifest: item('c', 'c.xhtml', 'application/xhtml+xml'),
  spine: '<itemref idref="c"/>',
  files: {
    'OPS/c.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>-</title></head><body>${'<p>Donaudampfschifffahrtsgesellschaft und Rheinschifffahrt auf dem Strom.</p>'.repeat(60)}</body></html>`,
  },
})

/** A property of the first paragraph of the book. */
const styleOf = (page: AppPage, property: string) =>
  page.evaluate<string>(
    `(() => { const { contentDocument, contentWindow } = document.querySelector('.epub-frame.shown'); return contentWindow.getComputedStyle(contentDocument.querySelector('p'))['${property}'] })()`,
  )

/** Families of the fonts that were added to the book's document, and loaded. */
const loadedFonts = (page: AppPage) =>
  page.evaluate<string[]>(
    `[...document.querySelector('.epub-frame.shown').contentDocument.fonts].filter(face => face.status === 'loaded').map(face => face.family.replaceAll('"', ''))`,
  )

const choose = (page: AppPage, group: string, value: string) =>
  page.getByRole('group', { name: group }).getByText(value, { exact: true }).click()

test('type of an EPUB', { skip: skipWithoutBrowser(3) }, async t => {
  const app = await startApp(t, { books: ['novel'], files: { 'Fahrt/Fahrt.epub': german } })
  const { novel } = app.books
  const fahrt = (await app.library.books()).find(({ folder }) => folder === 'Fahrt')!
  const testPages = testWithPages(t, app)
  const opened = async (page: AppPage) => {
    await page.locator('.epub-frame.shown').waitFor()
    await page.keyboard.press('s')
    await page.getByRole('dialog').waitFor()
  }

  await testPages('a face for dyslexia, and a font of the user', async (t, open) => {
    const page = await open(`/books/${novel.id}/read`, {
      account: app.reader,
      width: 390,
      height: 844,
    })
    await opened(page)
    t.same(await loadedFonts(page), [])
    await choose(page, 'Font', 'OpenDyslexic')
    await waitUntil(async () => (await loadedFonts(page)).includes('Reader OpenDyslexic'))
    t.match(await styleOf(page, 'fontFamily'), /^"Reader OpenDyslexic"/)
    t.same(await accessibilityProblems(page), [])
    t.equal(await horizontalOverflow(page), 0)

    page.expectProblem(/OTS parsing error/)
    const input = page.getByLabel('Use your own font').and(page.locator('input'))
    await input.setInputFiles({ name: 'no.ttf', mimeType: 'font/ttf', buffer: Buffer.from('no') })
    await page.getByText('The browser cannot use this file as a font.').waitFor()
    const large = Buffer.alloc(1_500_001)
    await input.setInputFiles({ name: 'large.ttf', mimeType: 'font/ttf', buffer: large })
    await page.getByText('This font is too large. The limit is 1.5 MB.').waitFor()
    await input.setInputFiles(fontFile)
    await page.getByText('opendyslexic.woff2').waitFor()
    await waitUntil(async () => (await loadedFonts(page)).some(name => /^Reader own/.test(name)))
    t.match(await styleOf(page, 'fontFamily'), /^"Reader own \d+"/)

    const again = await open(`/books/${novel.id}/read`, { context: page.context() })
    await again.locator('.epub-frame.shown').waitFor()
    await waitUntil(async () => (await loadedFonts(again)).some(name => /^Reader own/.test(name)))
  })

  await testPages('lines have a length', async (t, open) => {
    const page = await open(`/books/${novel.id}/read`, { width: 1400, height: 900 })
    await opened(page)
    await choose(page, 'Columns', 'One')
    const width = async () => Math.round(Number.parseFloat(await styleOf(page, 'width')))
    for (const [name, expected] of Object.entries({
      Short: 480,
      Normal: 640,
      Long: 860,
      'Full width': 1344,
    })) {
      await choose(page, 'Line length', name)
      await waitUntil(async () => (await width()) === expected)
      t.pass(name)
    }
  })

  await testPages('words are hyphenated by the language of the book', async (t, open) => {
    const page = await open(`/books/${fahrt.id}/read`)
    await opened(page)
    t.equal(await styleOf(page, 'hyphens'), 'manual')
    await choose(page, 'Hyphenation', 'Automatic')
    await waitUntil(async () => (await styleOf(page, 'hyphens')) === 'auto')
    const language = `document.querySelector('.epub-frame.shown').contentDocument.documentElement.lang`
    t.equal(await page.evaluate(language), 'de')
    await choose(page, 'Hyphenation', 'Off')
    await waitUntil(async () => (await styleOf(page, 'hyphens')) === 'none')
  })
})
