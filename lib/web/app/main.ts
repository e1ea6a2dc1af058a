// Entry module of the web application.
import { render } from 'preact'
import { account, isSignedIn, loadAccount, watchSession } from './api/session.ts'
import { startRouter } from './routing/router.ts'
import { registerServiceWorker } from './service-worker.ts'
import { App } from './shell/app.ts'
import { startTheme } from './shell/theme.ts'
import { startLanguage } from './text/translate.ts'
import { h } from './ui/h.ts'

startTheme()
startRouter()
watchSession()
// Without a connection the application is shown all the same, and says so.
await Promise.all([
  startLanguage(),
  isSignedIn.value && !account.value && loadAccount().catch(() => {}),
])
render(h(App, null), document.getElementById('app')!)
registerServiceWorker()
