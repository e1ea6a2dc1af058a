// HTML document of the web application, its web app manifest and its Content-Security-Policy.
import { basePathOf } from '../http/client/address.ts'
import type { Build } from './build.ts'
import { initialStyles } from './sources.ts'

/** Folder of the built files, relative to the base path. */
export const assetsPath = (digest: string) => `assets/${digest}`

/** Headers of the document. Only files of the build run as scripts, and nothing is loaded from other hosts. */
export const documentHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // The document names the current build.
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    // Frames of EPUBs, whose resources have their own policy.
    "frame-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types stackroom',
  ].join('; '),
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Browsers report the header as an error outside secure contexts. */
export const openerPolicy = (base: string): Record<string, string> =>
  /^(?:https:|http:\/\/(?:localhost|127\.|\[::1\]))/.test(base)
    ? { 'cross-origin-opener-policy': 'same-origin' }
    : {}

/** `styles/base.css` shows it instead of the application if the browser lacks the newest required feature. */
const outdatedNotice = `<div id="outdated" hidden>
<p>This browser is too old for the application, which needs Chrome or Edge 123, Firefox 121, Safari 17.5 or later. Reading apps can use the <a href="opds">OPDS catalog</a>.</p>
<p lang="de">Dieser Browser ist zu alt für die Anwendung. Sie benötigt Chrome oder Edge ab Version 123, Firefox ab 121 oder Safari ab 17.5. Lese-Apps können den <a href="opds">OPDS-Katalog</a> verwenden.</p>
</div>`

type Page = Pick<Build, 'digest' | 'initialModules'> & { base: string; name: string }

/** The document at every address of the application. `base` is the URL of the server. */
export function documentHtml({ base, name, digest, initialModules }: Page): string {
  const assets = assetsPath(digest)
  const modules = initialModules.map(path => `<link rel="modulepreload" href="${assets}/${path}">`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="${escapeHtml(basePathOf(base))}/">
<title>${escapeHtml(name)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f6f5f2" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#15161a" media="(prefers-color-scheme: dark)">
<link rel="manifest" href="manifest.webmanifest" crossorigin="use-credentials">
<link rel="icon" type="image/svg+xml" href="${assets}/icons/icon.svg">
<link rel="alternate" type="application/atom+xml;profile=opds-catalog;kind=navigation" href="opds/v1/catalog" title="OPDS 1.2">
<link rel="alternate" type="application/opds+json" href="opds/v2" title="OPDS 2.0">
<link rel="apple-touch-icon" href="${assets}/icons/icon-192.png">
<link rel="stylesheet" href="${assets}/${initialStyles}">
${modules.join('\n')}
<script type="module" src="${assets}/main.js"></script>
</head>
<body>
<div id="app"></div>
${outdatedNotice}
<noscript><p>This application needs JavaScript. Reading apps can use the <a href="opds">OPDS catalog</a>.</p></noscript>
</body>
</html>
`
}

/** Web app manifest (W3C Web Application Manifest), with which browsers install the application. */
export function manifest({ base, name, digest }: Omit<Page, 'initialModules'>): string {
  const root = `${basePathOf(base)}/`
  const icon = (file: string, sizes: string, type: string) => ({
    src: `${root}${assetsPath(digest)}/icons/${file}`,
    sizes,
    type,
  })
  return JSON.stringify({
    id: root,
    name,
    short_name: name.slice(0, 30),
    start_url: root,
    scope: root,
    display: 'standalone',
    background_color: '#15161a',
    theme_color: '#15161a',
    icons: [
      icon('icon.svg', 'any', 'image/svg+xml'),
      icon('icon-192.png', '192x192', 'image/png'),
      icon('icon-512.png', '512x512', 'image/png'),
      { ...icon('icon-maskable-512.png', '512x512', 'image/png'), purpose: 'maskable' },
    ],
  })
}

const escapeHtml = (text: string) =>
  text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
