// Entry module of the web application.
import { effect } from '@preact/signals'
import { render } from 'preact'
import { basePath } from './api/address.ts'
import { connection } from './api/events.ts'
import { untilReachable } from './api/reachable.ts'
import { account, isSignedIn, loadAccount, watchSession } from './api/session.ts'
import { storedKeys } from './api/storage.ts'
import { outboxPrefix } from './reading/device.ts'
import { loadView, reloadIfReplaced } from './routing/load-view.ts'
import { address, startRouter } from './routing/router.ts'
import { matchRoute } from './routing/routes.ts'
import { App } from './shell/app.tsx'
import { startTheme } from './shell/appearance.tsx'
import { language, startLanguage } from './text/translate.ts'
import { keepFocus } from './ui/keep-focus.ts'

startTheme()
startRouter()
watchSession()
keepFocus()
const match = matchRoute(address.value.path)
// The view shows its error.
if (match) loadView(match.route).catch(() => {})
// Without an answer the application is shown anyway, with a message.
const maxBlankMs = 3_000
await Promise.all([
  untilDone(startLanguage),
  isSignedIn.value &&
    !account.value &&
    Promise.race([
      loadAccount().catch(() => {}),
      new Promise(resolve => setTimeout(resolve, maxBlankMs)),
    ]),
])
render(<App />, document.getElementById('app')!)
effect(() => {
  const isConnected = connection.value === 'connected'
  if (isConnected && isSignedIn.peek() && !account.peek()) loadAccount().catch(() => {})
})
// It loads all files and must not delay the first view.
setTimeout(registerServiceWorker, 3_000)
setTimeout(sendUnsent, 3_000)

/** Nothing can be shown until it succeeds. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (;;)
    try {
      return await work()
    } catch {
      await reloadIfReplaced()
      await untilReachable()
      await new Promise(resolve => setTimeout(resolve, 1_000))
    }
}

type Policies = {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

/** Browsers support it over HTTPS and on localhost. */
function registerServiceWorker() {
  if (!('serviceWorker' in navigator)) return
  const url = `${basePath}/service-worker.js`
  // The Content-Security-Policy requires a trusted type where browsers know them, and this is the only use.
  const { trustedTypes } = window as { trustedTypes?: Policies }
  const policy = trustedTypes?.createPolicy('stackroom', { createScriptURL: () => url })
  const trusted = policy ? policy.createScriptURL(url) : url
  navigator.serviceWorker
    .register(trusted, { scope: `${basePath}/` })
    .then(() => navigator.serviceWorker.ready)
    .then(({ active }) => active?.postMessage(language.peek()))
    .catch(() => {})
}

/** Sends reading sessions left by an earlier page; the outbox module is loaded only if there are any. */
function sendUnsent() {
  if (storedKeys(outboxPrefix).length > 0)
    void import('./reading/outbox.ts').then(({ sendStored }) => sendStored()).catch(() => {})
}
