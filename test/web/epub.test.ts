// EPUB reader: pages of text and of fixed layout, positions on other devices, links, and documents that are hostile.
import { test } from 'tap'
import { epubBytes, item } from '../kit/files/epub.ts'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { type AppPage, testWithPages } from '../kit/web/page.ts'

const type = 'application/xhtml+xml'

/** An EPUB with one document per body. */
const epubOf = (bodies: readonly string[], { head = '', direction = 'default', files = {} } = {}) =>
  epubBytes({
    manifest: [
      ...bodies.map((_, i) => item(`c${i}`, `c${i}.xhtml`, type)),
      ...Object.keys(files).map((path, i) => item(`f${i}`, path, 'text/css')),
    ].join(''),
    spine: bodies.map((_, i) => `<itemref idref="c${i}"/>`).join(''),
    files: {
      ...Object.fromEntries(
        bodies.map((body, i) => [
          `OPS/c${i}.xhtml`,
          `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" dir="${direction === 'rtl' ? 'rtl' : 'ltr'}"><head><title>-</title>${head}</head>${body}</html>`,
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(files).map(([path, text]) => [`OPS/${path}`, String(text)]),
      ),
    },
  })

const elsewhere = 'http://elsewhere.example'
const run = 'fetch(`/ran`)'
const hostileBody = `<body onload="${run}" background="${elsewhere}/1" style="background:url(${elsewhere}/2)">
  <script>${run}</script><script src="${elsewhere}/3"/><base href="${elsewhere}/"/><!-- <script> -->
  <h1 onclick="${run}">Hostile</h1><a href="javascript:${run}">one</a> <a target="_top" ping="${elsewhere}/4" href="${elsewhere}/5">two</a>
  <img src="${elsewhere}/6" onerror="${run}"/><img srcset="//elsewhere.example/7 2x"/><img src="missing.png"/>
  <iframe src="${elsewhere}/8"/><iframe srcdoc="x"></iframe><object data="${elsewhere}/9"/><embed src="${elsewhere}/10"/>
  <form action="${elsewhere}/11" method="post"><input autofocus="autofocus" onfocus="${run}"/><button formaction="${elsewhere}/12">Send</button></form>
  <video src="${elsewhere}/13" poster="${elsewhere}/14" autoplay="autoplay"/>
  <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="${run}"><script>${run}</script><image xlink:href="${elsewhere}/15"/><use href="${elsewhere}/16#a"/><rect fill="url(${elsewhere}/17#a)"/><set attributeName="onload" to="${run}"/><animate attributeName="href" values="javascript:${run}"/><style>rect { fill: url(${elsewhere}/18) }</style></svg>
  <p style="background:\\75rl(${elsewhere}/19)">three</p></body>`
const hostileHead = `<meta http-equiv="refresh" content="0;url=${elsewhere}/20"/><base href="${elsewhere}/"/><link rel="stylesheet" href="${elsewhere}/21"/><link rel="stylesheet" href="f.css"/><link rel="prefetch" href="${elsewhere}/22"/>
  <style>@import "${elsewhere}/23"; @font-face { font-family: E; src: url(${elsewhere}/24) } :root { --u: url(${elsewhere}/25) } p { font-family: E; background: var(--u); cursor: url(${elsewhere}/26), auto; list-style: image-set("${elsewhere}/27" 1x) } h1::before { content: "url(" url("${elsewhere}/28") } a[href^="j"] { background: u\\72l(${elsewhere}/29) }</style>`

/** A page of fixed layout before and after the text. */
const mixed = epubBytes({
  manifest: [0, 1, 2].map(i => item(`c${i}`, `c${i}.xhtml`, type)).join(''),
  spine: [0, 1, 2]
    .map(
      i =>
        `<itemref idref="c${i}"${i === 1 ? '' : ' properties="rendition:layout-pre-paginated"'}/>`,
    )
    .join(''),
  files: Object.fromEntries(
    [0, 1, 2].map(i => [
      `OPS/c${i}.xhtml`,
      `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>-</title><meta name="viewport" content="width=600, height=900"/></head><body><p>Part ${i}</p></body></html>`,
    ]),
  ),
})

const files = {
  'Mixed/Mixed.epub': mixed,
  'Vertical/Vertical.epub': epubOf(
    [
      `<body style="writing-mode: vertical-rl">${'<p>吾輩は猫である。名前はまだ無い。</p>'.repeat(200)}</body>`,
    ],
    {},
  ),
  'Arabic/Arabic.epub': epubOf(
    [`<body>${'<p>كان يا ما كان في قديم الزمان ملك عادل</p>'.repeat(200)}</body>`],
    { direction: 'rtl' },
  ),
  'Hostile/Hostile.epub': epubOf(
    [hostileBody, `<body><p onclick="${run}">Not <b>closed</p></body>`],
    {
      head: hostileHead,
      files: {
        'f.css': `@import "${elsewhere}/30"; h1 { color: rgb(1, 2, 3); -epub-hyphens: none; background: url(${elsewhere}/31) }`,
      },
    },
  ),
}

/** Waits for a page of text, and the numbers below it. */
async function footer(page: AppPage, text: RegExp) {
  await page.locator('.epub-frame.shown').first().waitFor()
  await page.locator('.epub-foot').filter({ hasText: text }).waitFor()
}

/** In the document of the book: `body` is an expression with `document`, the document, and `frame`. */
const inBook = <T>(page: AppPage, body: string): Promise<T> =>
  page.evaluate<T>(
    `(() => { const frame = window.document.querySelector('.epub-frame.shown'); const document = frame.contentDocument; return ${body} })()`,
  )

/** The paragraphs of which a part is displayed. */
const shownIds = (page: AppPage) =>
  inBook<string[]>(
    page,
    `[...document.querySelectorAll('p[id]')].filter(p => [...p.getClientRects()].some(({ left, right }) => right > 0 && left < frame.clientWidth)).map(p => p.id)`,
  )

/** The middle of a link in the window. */
async function clickLink(page: AppPage, text: string) {
  const { x, y } = await inBook<{ x: number; y: number }>(
    page,
    `(() => { const link = [...document.querySelectorAll('[data-link]')].find(link => link.textContent === ${JSON.stringify(text)}); const at = link.getClientRects()[0]; const { left, top } = frame.getBoundingClientRect(); return { x: left + at.left + at.width / 2, y: top + at.top + at.height / 2 } })()`,
  )
  await page.mouse.click(x, y)
}

test('EPUB reader', { skip: skipWithoutBrowser(6) }, async t => {
  const app = await startApp(t, { books: ['novel', 'picture'], files })
  const testPages = testWithPages(t, app)
  const rows = await app.library.books()
  const pathTo = (folder: string) => `/books/${rows.find(row => row.folder === folder)!.id}/read`

  await testPages('a text is continued at another size on another device', async (t, open) => {
    const path = `/books/${app.books.novel.id}/read`
    const page = await open(path)
    await footer(page, /^Water1 \//)
    await page.keyboard.press('t')
    await page.getByRole('dialog').getByRole('button', { name: 'Stone' }).click()
    await footer(page, /^Stone1 \//)
    await page.keyboard.press('ArrowRight')
    await footer(page, /^Stone2 \//)
    const [first] = (await shownIds(page)).slice(1)
    await page.keyboard.press('s')
    await page.getByRole('button', { name: 'Larger' }).click()
    await page.getByLabel('Sepia').check({ force: true })
    await page.keyboard.press('Escape')
    t.ok((await shownIds(page)).includes(first!), 'the same text after a change of size')
    t.equal(
      await inBook(page, `getComputedStyle(document.documentElement).backgroundColor`),
      'rgb(246, 236, 217)',
    )
    const closedAt = await shownIds(page)
    await page.keyboard.press('m')
    const recorded = page.waitForResponse(response => response.url().endsWith('/reading-sessions'))
    await page.getByRole('link', { name: 'Close book' }).click()
    await recorded
    const phone = await open(path, { width: 390, height: 700 })
    await footer(phone, /^Stone/)
    // The page that contains the start of the other; which paragraphs fit on it depends on the fonts.
    const continuedAt = await shownIds(phone)
    t.ok(
      continuedAt.some(id => closedAt.includes(id)),
      `${continuedAt} on a small screen after ${closedAt}`,
    )
  })

  await testPages('links lead to notes, chapters, and back', async (t, open) => {
    const progression = async () =>
      (await app.admin.get(`/books/${app.books.novel.id}/progression`)).body
    const before = await progression()
    const page = await open(`/books/${app.books.novel.id}/read`)
    await footer(page, /./)
    await page.keyboard.press('s')
    await page.getByLabel('Incognito').check()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Home')
    await footer(page, /^Water1 \//)
    const pages = await inBook<number>(
      page,
      `Math.ceil(document.body.scrollWidth / frame.clientWidth)`,
    )
    for (let i = 1; i < pages; i++) await page.keyboard.press('ArrowRight')
    await footer(page, new RegExp(`^Water${pages} /`))
    await clickLink(page, '1')
    await page.getByRole('dialog').getByText('A note on the wheel.').waitFor()
    await page.keyboard.press('Escape')
    await clickLink(page, 'See the next chapter')
    await footer(page, /^Stone/)
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Back to where you were' }).click()
    await footer(page, new RegExp(`^Water${pages} /`))
    t.equal(await page.locator('.epub-frame').count(), 1)
    await page.getByRole('link', { name: 'Close book' }).click()
    await page.waitForURL(new RegExp(`/books/${app.books.novel.id}$`))
    t.same(await progression(), before, 'incognito leaves no trace')
  })

  await testPages('pages of fixed layout are shown in spreads', async (t, open) => {
    const page = await open(`/books/${app.books.picture.id}/read`)
    await page.locator('.epub-frame.shown').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.locator('.epub-frame.shown[data-path$="3.xhtml"]').waitFor()
    const boxes = await page.evaluate<{ left: number; right: number; height: number }[]>(
      `[...document.querySelectorAll('.epub-frame.shown')].map(frame => { const { left, right, height } = frame.getBoundingClientRect(); return { left, right, height } }).sort((a, b) => a.left - b.left)`,
    )
    t.equal(boxes.length, 2)
    t.ok(Math.abs(boxes[0]!.right - boxes[1]!.left) < 1, 'side by side')
    t.ok(Math.abs(boxes[0]!.height - 768) < 1, 'as high as the window')
  })

  await testPages('documents have the layout that the book gives them', async (t, open) => {
    const page = await open(pathTo('Mixed'))
    const fixed = (path: string) =>
      page.locator(`.epub-fixed-page.shown > .epub-frame[data-path$="${path}"]`).waitFor()
    const text = page.locator('.epub-host > .epub-frame.shown[data-path$="c1.xhtml"]')
    await fixed('c0.xhtml')
    await page.keyboard.press('ArrowRight')
    await text.waitFor()
    await page.keyboard.press('ArrowRight')
    await fixed('c2.xhtml')
    await page.keyboard.press('ArrowLeft')
    await text.waitFor()
    t.equal(await page.locator('.epub-frame').count(), 1)
  })

  await testPages('pages follow the direction of the writing', async (t, open) => {
    for (const folder of ['Vertical', 'Arabic']) {
      const page = await open(pathTo(folder))
      await footer(page, /1 \//)
      await page.keyboard.press('ArrowLeft')
      await footer(page, /2 \//)
      const position = `(() => { const range = document.createRange(); const p = [...document.querySelectorAll('p')].find(p => { const { left, right, top, bottom } = p.getClientRects()[0]; return left >= 0 && top >= 0 && right <= frame.clientWidth && bottom <= frame.clientHeight }); const { right, top } = p.getClientRects()[0]; return right > frame.clientWidth / 2 && top < frame.clientHeight / 3 })()`
      t.ok(await inBook(page, position), `${folder}: the page begins at the right`)
    }
  })

  await testPages('nothing of a hostile document runs or is loaded', async (t, open) => {
    const page = await open(pathTo('Hostile'))
    await footer(page, /1 \//)
    t.equal(
      await inBook(page, `getComputedStyle(document.querySelector('h1')).color`),
      'rgb(1, 2, 3)',
      'styles of the book stay',
    )
    t.equal(
      await inBook(page, `getComputedStyle(document.querySelector('h1')).hyphens`),
      'none',
      'under their names of EPUB, too',
    )
    await clickLink(page, 'two')
    await page.getByRole('link', { name: 'Open in a new tab' }).waitFor()
    t.match(
      await page.getByRole('link', { name: 'Open in a new tab' }).getAttribute('rel'),
      'noreferrer',
    )
    await page.keyboard.press('Escape')
    await page.keyboard.press('End')
    await page.locator('.epub-frame.shown[data-path$="c1.xhtml"]').waitFor()
    t.match(await inBook(page, `document.body.textContent`), /Not closed/)
  })
})
