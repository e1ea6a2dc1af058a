// Entry module of the web application.
import { effect } from '@preact/signals'
import { render } from 'preact'
import { connection } from './api/events.ts'
import { untilReachable } from './api/reachable.ts'
import { account, isSignedIn, loadAccount, watchSession } from './api/session.ts'
import { sendUnsent } from './reading/unsent.ts'
import { loadView, reloadIfReplaced } from './routing/load-view.ts'
import { address, startRouter } from './routing/router.ts'
import { matchRoute } from './routing/routes.ts'
import { registerServiceWorker } from './service-worker.ts'
import { App } from './shell/app.tsx'
import { startTheme } from './shell/theme.ts'
import { startLanguage } from './text/translate.ts'
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
