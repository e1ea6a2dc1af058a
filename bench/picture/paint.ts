// Screenshots of the web application in headless Chromium, as WebP.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import { findBrowser } from '../../test/kit/web/browser.ts'
import { type Credentials, signIn } from '../../test/kit/web/sign-in.ts'

const viewport = { width: 1600, height: 1100 }
/** Legible on screens with twice as many pixels as well. */
const deviceScaleFactor = 1.25

/** Returns the files that were written. */
export async function paint(
  base: string,
  reader: Credentials & { seriesId: string },
  folder: string,
): Promise<string[]> {
  const executablePath = findBrowser(['chromium-headless-shell', 'chromium', 'google-chrome'])
  if (executablePath === null) throw new Error('no Chromium is installed')
  mkdirSync(folder, { recursive: true })
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false })
  try {
    const light = await openPage(browser, base, reader, 'light')
    const dark = await openPage(browser, base, reader, 'dark')
    const files = [
      await shoot(light, `${base}/`, join(folder, 'home-light.webp')),
      await shoot(dark, `${base}/`, join(folder, 'home-dark.webp')),
    ]
    await dark.setViewportSize({ ...viewport, height: 880 })
    const series = `${base}/series/${reader.seriesId}`
    return [...files, await shoot(dark, series, join(folder, 'series.webp'))]
  } finally {
    await browser.close()
  }
}

async function openPage(
  browser: Browser,
  base: string,
  reader: Credentials,
  colorScheme: 'light' | 'dark',
) {
  const context = await browser.newContext({
    ...{ viewport, deviceScaleFactor, colorScheme, locale: 'en', reducedMotion: 'reduce' },
    // The policy of the application allows no other style sheet.
    bypassCSP: true,
    storageState: await signIn(base, reader),
  })
  return await context.newPage()
}

async function shoot(page: Page, address: string, file: string): Promise<string> {
  await page.goto(address)
  await page.locator('.lists-card:not(.loading)').first().waitFor()
  await page.addStyleTag({ content: ':root { --font: Inter, system-ui, sans-serif }' })
  await page.waitForLoadState('networkidle')
  await sharp(await page.screenshot())
    .webp({ quality: 78, smartSubsample: true })
    .toFile(file)
  return file
}
