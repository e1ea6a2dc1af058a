// Problems that a browser reports: console, exceptions, Content-Security-Policy, failed and foreign requests.
import type { BrowserContext, Request } from 'playwright-core'

/** Messages of navigation and of requests canceled by the page itself. */
const cancelled = 'net::ERR_ABORTED'
/** The console repeats what `response` reports with method and path. */
const failedResource = /^Failed to load resource: the server responded with a status of/
const blockedByKit = 'Service Worker registration blocked by Playwright'

// Every frame reports violations; a page that handles the events itself cannot stop this listener.
const reportViolations = `addEventListener('securitypolicyviolation', event => console.error(
  'CSP ' + event.effectiveDirective + ' ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.lineNumber
), true)`

/** Collects the problems of all pages of a context from now on. */
export function watchContext(context: BrowserContext, base: string) {
  const { origin } = new URL(base)
  const found: string[] = []
  const expected: RegExp[] = []
  const pathOf = (request: Request) => {
    const url = new URL(request.url())
    return url.origin === origin ? url.pathname + url.search : url.href
  }
  void context.addInitScript(reportViolations)
  context.on('console', message => {
    const [type, text] = [message.type(), message.text()]
    if (type !== 'error' && type !== 'warning') return
    if (!failedResource.test(text) && text !== blockedByKit) found.push(`console ${type}: ${text}`)
  })
  context.on('weberror', webError => {
    const exception = webError.error()
    found.push(`exception: ${exception.stack ?? exception}`)
  })
  context.on('request', request => {
    const url = new URL(request.url())
    if (/^(?:https?|wss?):$/.test(url.protocol) && url.origin !== origin)
      found.push(`request to another origin: ${url.href}`)
  })
  context.on('requestfailed', request => {
    const reason = request.failure()?.errorText
    if (reason !== cancelled) found.push(`${reason} ${request.method()} ${pathOf(request)}`)
  })
  context.on('response', response => {
    const request = response.request()
    // A busy machine may take too long; the application repeats the request.
    if (response.status() >= 400 && response.status() !== 503)
      found.push(`${response.status()} ${request.method()} ${pathOf(request)}`)
  })
  return {
    expectProblem: (pattern: RegExp) => void expected.push(pattern),
    problems: () => found.filter(text => !expected.some(pattern => pattern.test(text))),
  }
}
