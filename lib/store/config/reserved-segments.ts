// Paths that are taken by the server itself and not available to compatible APIs.

/** First path segments of the server itself, in lowercase. */
export const reservedSegments: ReadonlySet<string> = new Set([
  // Views and files of the web application.
  'account',
  'admin',
  'assets',
  'books',
  'collections',
  'libraries',
  'manifest.webmanifest',
  'readlists',
  'search',
  'series',
  'service-worker.js',
  'setup',
  'sign-in',
  'statistics',
  'want-to-read',
  // The API and what reading apps request.
  'api',
  'auth',
  'docs',
  'health',
  'healthcheck',
  'koreader',
  'metrics',
  'openapi.json',
  'opds',
  'opds-comics',
  'syncs',
  'users',
])
