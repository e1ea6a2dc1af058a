// Feed source: the releases of an RSS, Atom or JSON feed, fetched only when it has changed.
import { createHash } from 'node:crypto'
import { runInOwnThread, ThreadTimeout } from '../../base/async/own-thread.ts'
import { isShortage } from '../../base/errors.ts'
import { programFile } from '../../base/package.ts'
import { nullable, record, type Static, Type } from '../../base/schema.ts'
import { tryAnswer } from '../check.ts'
import type { Call, ReleasePage, ReleaseQuery, Source } from '../contract.ts'
import { SourceFailure } from '../failure.ts'
import type { HttpResponse } from '../http/client.ts'
import type { SourceDeps, SourceRow, SourceType } from '../source-type.ts'
import { checkFeed, FeedConfig } from './config.ts'
import type { FeedInput, FeedOutput } from './releases.ts'

const threadFile = programFile('lib/sources/feed/parse-thread')
const threadLimits = { maxMs: 30_000, maxMb: 512 }
/** Takes about 25 ms without a thread, whereas starting one takes 200 ms. */
const maxInlineBytes = 128 * 1024
const accept =
  'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, application/json;q=0.9, */*;q=0.5'

/** `rules` and `digest` (of the body) show whether an answer was already read in the same way. */
const Cursor = record({
  etag: nullable(Type.String()),
  lastModified: nullable(Type.String()),
  digest: Type.String(),
  rules: Type.String(),
})
type Cursor = Static<typeof Cursor>

export const feed: SourceType<FeedConfig> = {
  Config: FeedConfig,
  check: checkFeed,
  releaseSources: ({ displayName }) => [{ key, displayName, kind }],
  open: openFeed,
}

/** Key of the only release source. */
const key = 'feed'
const kind = 'rss-uploader'

/** Credentials are sent as headers of each request. */
function openFeed(row: SourceRow<FeedConfig>, { http }: SourceDeps): Source {
  const { config, credentials, displayName } = row
  const rules = hashOf(JSON.stringify([config, parserVersion]))

  async function fetchFeed(cursor: Cursor | null, { signal }: Call) {
    const { etag = null, lastModified = null } = cursor ?? {}
    const request = { url: config.url, headers: credentials, accept, etag, lastModified, signal }
    const response = await http.send(request)
    if (response.status === 404) throw new SourceFailure('The feed does not exist', 'status')
    return response
  }

  return {
    async describe(call) {
      const { title } = await read(await fetchFeed(null, call), config, call)
      const name = title?.trim().slice(0, 200) || displayName
      return {
        name: 'feed',
        displayName: name,
        version: '1',
        homepage: null,
        capabilities: ['releases'],
        releaseSources: [{ key, displayName: name, kind }],
      }
    },
    async listReleases({ cursor }: ReleaseQuery, call): Promise<ReleasePage> {
      const known = tryAnswer(Cursor, cursor)
      const latest = known?.rules === rules ? known : null
      const response = await fetchFeed(latest, call)
      const { status, body, etag, lastModified } = response
      if (status === 304) return notModified(latest)
      const digest = hashOf(body)
      const next = { etag, lastModified, digest, rules }
      if (latest?.digest === digest) return notModified(next)
      const { releases } = await read(response, config, call)
      return { ...releases, cursor: next, isLast: true }
    },
  }
}

/** Increased when title parsing changes, so that unchanged feeds are read again. */
const parserVersion = 1

const notModified = (cursor: Cursor | null): ReleasePage => ({
  items: [],
  cursor,
  isLast: true,
  summary: 'Not modified',
})

const hashOf = (content: string | Uint8Array) =>
  createHash('sha256').update(content).digest('base64url')

async function read({ body, contentType }: HttpResponse, config: FeedConfig, call: Call) {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? '')?.[1] ?? null
  const input = { body, charset, config }
  const output =
    body.length > maxInlineBytes ? await readInThread(input, call) : await readHere(input)
  if ('failure' in output) throw new SourceFailure(output.failure, 'invalid')
  return output
}

// Imported lazily, so that only feeds load the parser.
const readHere = async (input: FeedInput) => (await import('./releases.ts')).readReleases(input)

async function readInThread(input: FeedInput, { signal }: Call): Promise<FeedOutput> {
  try {
    return await runInOwnThread(threadFile, input, { ...threadLimits, signal })
  } catch (cause) {
    if (signal.aborted || isShortage(cause)) throw cause
    const isLate = cause instanceof ThreadTimeout
    const what = isLate ? 'takes too long to read' : 'is too large to read'
    throw new SourceFailure(`The feed ${what}`, 'too_large', { cause })
  }
}
