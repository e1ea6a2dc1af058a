// Sessions in the browser: sign-in, sign-out, renewal of tokens, and the way back to where the reader was.
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { apiDefaults } from '../kit/server.ts'
import { accessibilityProblems } from '../kit/web/accessibility.ts'
import { type App, password, startApp } from '../kit/web/app.ts'
import { skipWithoutBrowser } from '../kit/web/browser.ts'
import { horizontalOverflow, testWithPages, waitUntil } from '../kit/web/page.ts'

const signedIn = (page: Page) => page.getByRole('button', { name: 'Account ada' })

async function fillSignIn(page: Page, secret = password) {
  await page.getByLabel('User name').fill('ada')
  await page.getByLabel('Password').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('sessions of the web application', { skip: skipWithoutBrowser(7) }, async t => {
  const app = await startApp(t, { books: ['comic'] })
  const testPages = testWithPages(t, app)
  const anonymous = { account: null, width: 390, height: 844 }

  await testPages('after the sign-in readers are where they wanted to go', async (t, open) => {
    const page = await open('/series?sort=title', anonymous)
    await page.getByLabel('Password').waitFor()
    t.equal(await horizontalOverflow(page), 0)
    t.same(await accessibilityProblems(page), [])
    page.expectProblem(/^401 POST \/api\/v1\/auth\/login$/)
    await fillSignIn(page, 'not the password')
    await page.getByRole('alert').waitFor()
    await fillSignIn(page)
    await signedIn(page).waitFor()
    t.equal(page.url(), `${app.base}/series?sort=title`)
    t.equal(await horizontalOverflow(page), 0)
    await page.goBack().catch(() => {})
    t.notMatch(page.url(), /sign-in/, 'not in the history')
  })

  await testPages('an address of another host is not opened after the sign-in', async (t, open) => {
    const addresses = [
      '/\\\\other.example/',
      '\t//other.example/',
      '//other.example/a',
      'javascript:0',
    ]
    for (const from of addresses) {
      const page = await open(`/sign-in?from=${encodeURIComponent(from)}`, anonymous)
      await fillSignIn(page)
      await signedIn(page).waitFor()
      t.equal(page.url(), `${app.base}/`, from)
      await page.close()
    }
    const page = await open('/sign-in?from=%25E0', anonymous)
    await fillSignIn(page)
    await signedIn(page).waitFor()
    t.equal(page.url(), `${app.base}/%E0`, 'one that is not encoded correctly')
  })

  await testPages('the sign-out in a preview ends the session', async (t, open) => {
    const page = await open(`/admin/users/${app.reader.id}`)
    await page.getByRole('button', { name: 'View as' }).click()
    await page.getByRole('button', { name: 'End preview' }).waitFor()
    const token = await tokens(page)
    await page.getByRole('button', { name: 'Account rob' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Password').waitFor()
    const client = app.withHeaders({ authorization: `Bearer ${token!.accessToken}` })
    await waitUntil(async () => (await client.get('/auth/me')).status === 401)
    t.equal(await page.evaluate('sessionStorage.length'), 0)
  })

  await testPages('a sign-out is between what is loading and the next sign-in', async (t, open) => {
    // Its view has no covers.
    const page = await open('/account')
    await signedIn(page).waitFor()
    const { promise: areSent, resolve: sendCovers } = Promise.withResolvers<void>()
    const { promise: isSent, resolve: sendLogout } = Promise.withResolvers<void>()
    await page.route('**/thumbnail?*', async route => {
      await areSent
      await route.continue().catch(() => {})
    })
    await page.route('**/auth/logout', async route => {
      await isSent
      await route.continue()
    })
    const isCover = (url: string) => url.includes('/thumbnail?')
    const loading = page.waitForRequest(request => isCover(request.url()))
    await page.getByRole('link', { name: 'Series', exact: true }).click()
    await loading
    await signedIn(page).click()
    const order = new Set<string>()
    page.on('requestfailed', request => isCover(request.url()) && order.add('cover cancelled'))
    page.on('request', request => {
      const [name] = /log(?:in|out)$/.exec(request.url()) ?? []
      if (name) order.add(name)
    })
    page.on('response', response => {
      if (response.url().endsWith('logout')) order.add('logout answered')
    })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await fillSignIn(page)
    sendLogout()
    sendCovers()
    await signedIn(page).waitFor()
    t.same([...order], ['cover cancelled', 'logout', 'logout answered', 'login'])
  })

  await testPages('a session is resumed by a reload and in another tab', async (t, open) => {
    const page = await open('/')
    await signedIn(page).waitFor()
    await page.reload()
    await signedIn(page).waitFor()
    const other = await open('/', { context: page.context() })
    await signedIn(other).waitFor()

    await t.test('and ends in all of them', async t => {
      const token = await tokens(page)
      await signedIn(page).click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      for (const tab of [page, other]) await tab.getByLabel('Password').waitFor()
      t.same(await tokens(page), null, 'nothing is stored')
      // The page does not wait for the server, which deletes the cookie.
      await waitUntil(async () => (await page.context().cookies()).length === 0)
      const client = app.withHeaders({ authorization: `Bearer ${token!.accessToken}` })
      t.equal((await client.get('/auth/me')).status, 401, 'the tokens are invalid')
    })
  })

  await testPages('tokens are renewed until the session ends', async (t, open) => {
    const page = await open('/')
    await signedIn(page).waitFor()
    const first = await tokens(page)
    await storeTokens(page, { ...first!, expiresAt: Date.now() - 1_000 })
    await page.reload()
    await signedIn(page).waitFor()
    const second = await tokens(page)
    t.not(second!.refreshToken, first!.refreshToken, 'before they expire')
    t.ok(second!.expiresAt > Date.now())
    t.same(page.problems(), [])

    page.expectProblem(/^401 /)
    await storeTokens(page, { ...second!, accessToken: 'not-a-token' })
    await page.reload()
    await signedIn(page).waitFor()
    const third = await tokens(page)
    t.not(third!.accessToken, 'not-a-token', 'when the server refuses them')

    await endSession(app, third!)
    await page.goto(`${app.base}/series`)
    await page.getByLabel('Password').waitFor()
    t.equal(new URL(page.url()).pathname, '/sign-in')
    await fillSignIn(page)
    await signedIn(page).waitFor()
    t.equal(new URL(page.url()).pathname, '/series')
  })

  const settings = { ...apiDefaults, 'application.public_url': 'http://books.example/shelf' }
  const { base } = await app.startAnother({ settings })
  const testBelowPrefix = testWithPages(t, { ...app, base: `${base}/shelf` })
  await testBelowPrefix('everything is requested below the prefix of a proxy', async (t, open) => {
    const page = await open('/', anonymous)
    const paths = new Set<string>()
    page.on('request', request => paths.add(new URL(request.url()).pathname))
    await fillSignIn(page)
    await signedIn(page).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Series', exact: true }).click()
    await signedIn(page).waitFor()
    t.equal(new URL(page.url()).pathname, '/shelf/series')
    t.same(
      [...paths].filter(path => !path.startsWith('/shelf/')),
      [],
    )
  })
})

type Tokens = { accessToken: string; refreshToken: string; expiresAt: number }

const key = "'stackroom.session:/'"
const tokens = (page: Page) =>
  page.evaluate<Tokens | null>(`JSON.parse(localStorage[${key}] ?? null)`)
const storeTokens = (page: Page, value: Tokens) =>
  page.evaluate(`localStorage[${key}] = ${JSON.stringify(JSON.stringify(value))}`)

/** As another browser of the same session would do it. */
async function endSession(app: App, { accessToken, refreshToken }: Tokens) {
  const client = app.withHeaders({ authorization: `Bearer ${accessToken}` })
  await client.post('/auth/logout', { refreshToken })
}
