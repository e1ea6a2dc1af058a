// Navigation of the web application on tablets: all of it is to be seen, upright and on the side.
import { test } from 'tap'
import { startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { horizontalOverflow, testWithPages } from '../kit/web/page.ts'

const sizes = [
  [600, 960],
  [768, 1024],
  [820, 1180],
  [844, 390],
  [960, 600],
  [1024, 768],
  [1100, 800],
] as const

test('navigation on tablets', { skip: skipWithoutBrowser(2) }, async t => {
  const app = await startApp(t)
  const testPages = testWithPages(t, app)
  for (const language of ['en', 'de'])
    await testPages(`nothing is cut in ${language}`, async (t, open) => {
      const page = await open('/admin', { language })
      await page.locator('.section-navigation').waitFor()
      for (const [width, height] of sizes) {
        await page.setViewportSize({ width, height })
        const cut = await page.evaluate<string[]>(
          `[...document.querySelectorAll('.frame-navigation, .frame-navigation *, .section-navigation')]
            .filter(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => clientWidth > 0 && (scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1))
            .map(({ className, textContent }) => className + ' ' + textContent)`,
        )
        t.same(cut, [], `${width} by ${height}`)
        t.equal(await horizontalOverflow(page), 0)
        if (process.env.SCREENSHOTS)
          await page.screenshot({ path: `${process.env.SCREENSHOTS}/${language}-${width}.png` })
      }
    })
})
