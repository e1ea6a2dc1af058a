// Registration of the service worker, which browsers support over HTTPS and on localhost.
import { basePath } from './api/address.ts'

type Policies = {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

export function registerServiceWorker() {
  if (!('serviceWorker' in navigator)) return
  const url = `${basePath}/service-worker.js`
  // The Content-Security-Policy requires a trusted type where browsers know them, and this is the only use.
  const { trustedTypes } = window as { trustedTypes?: Policies }
  const policy = trustedTypes?.createPolicy('stackroom', { createScriptURL: () => url })
  const trusted = policy ? policy.createScriptURL(url) : url
  navigator.serviceWorker.register(trusted, { scope: `${basePath}/` }).catch(() => {})
}
