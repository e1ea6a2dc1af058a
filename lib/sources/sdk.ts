// SDK for plugins: the loop that reads JSON-RPC calls from stdin and writes answers to stdout. It needs nothing
// but Node.js; copy it with contract.ts, from which only types are used. See docs/sources.md.
import { createInterface } from 'node:readline'
import type {
  BookHit,
  BookQuery,
  FetchedBook,
  FetchedSeries,
  ReleasePage,
  ReleaseQuery,
  SearchQuery,
  SeriesHit,
  SourceDescription,
} from './contract.ts'

export type {
  BookHit,
  BookQuery,
  FetchedBook,
  FetchedSeries,
  ReleasePage,
  ReleaseQuery,
  SearchQuery,
  SeriesHit,
  SourceDescription,
} from './contract.ts'

/** Configured by the administrator. */
export type PluginStart = {
  settings: Record<string, unknown>
  credentials: Record<string, string>
}

/** The functions of the capabilities named by `describe`. */
export type Plugin = {
  describe(): SourceDescription | Promise<SourceDescription>
  /** Best first. */
  searchSeries?(query: SearchQuery): SeriesHit[] | Promise<SeriesHit[]>
  /** Null if there is no such series. */
  fetchSeries?(query: { externalId: string }): FetchedSeries | null | Promise<FetchedSeries | null>
  /** Best first. */
  searchBooks?(query: BookQuery): BookHit[] | Promise<BookHit[]>
  /** Null if there is no such book. */
  fetchBook?(query: { externalId: string }): FetchedBook | null | Promise<FetchedBook | null>
  listReleases?(query: ReleaseQuery): ReleasePage | Promise<ReleasePage>
}

/** An error whose message is shown to administrators; there are no calls before `retryAt`. */
export class PluginError extends Error {
  readonly retryAt: Date | null
  constructor(message: string, { retryAt = null }: { retryAt?: Date | null } = {}) {
    super(message)
    this.name = 'PluginError'
    this.retryAt = retryAt
  }
}

type Request = { id: number; method: string; params: never }
const methodNotFound = -32_601
const failed = -32_000
const methods = [
  ...(['describe', 'searchSeries', 'fetchSeries', 'searchBooks', 'fetchBook'] as const),
  'listReleases',
] as const

/** Answers calls until stdin is closed. stdout is reserved for the protocol: write logs to stderr. */
export async function servePlugin(open: (start: PluginStart) => Plugin | Promise<Plugin>) {
  let plugin: Plugin | null = null
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line) as Request
    let answer: object
    try {
      if (method === 'initialize') {
        plugin = await open(params)
        answer = { result: {} }
      } else answer = await call(plugin, method, params)
    } catch (error) {
      answer = { error: toError(error) }
    }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
  }
}

async function call(plugin: Plugin | null, method: string, params: never): Promise<object> {
  const name = methods.find(known => known === method)
  const run = name && plugin?.[name]?.bind(plugin)
  if (!run) return { error: { code: methodNotFound, message: `${method} is not supported` } }
  return { result: await run(params) }
}

function toError(error: unknown) {
  if (!(error instanceof PluginError)) process.stderr.write(`${(error as Error)?.stack ?? error}\n`)
  const message = error instanceof Error ? error.message : String(error)
  const retryAt = error instanceof PluginError ? error.retryAt : null
  return { code: failed, message, ...(retryAt ? { data: { retryAt: retryAt.toISOString() } } : {}) }
}
