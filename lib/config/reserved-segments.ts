// Paths of the server that a compatible API cannot have.

/** First segments of paths of the server itself. */
export const reservedSegments: ReadonlySet<string> = new Set([
  'api',
  'auth',
  'docs',
  'health',
  'healthcheck',
  'koreader',
  'metrics',
  'opds',
  'opds-comics',
  'syncs',
  'users',
])
