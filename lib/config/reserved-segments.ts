// Paths of the server that a compatible API cannot have.

/** First segments of paths of the server itself, in lower case. */
export const reservedSegments: ReadonlySet<string> = new Set([
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
