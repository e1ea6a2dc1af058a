// The match job: matches the due series or books of a library with a metadata source, one after another. When a process
// dies, the rest becomes due again; a source that wants no requests is not called.
import { serverViewer } from '../../accounts/viewer.ts'
import type { ThreadPool } from '../../base/async/thread-pool.ts'
import { Failure, NotFound, Unreadable, type UnreadableCode } from '../../base/errors.ts'
import type { NewCover } from '../../catalog/cover/cover.ts'
import { coverFolders } from '../../catalog/cover/cover-files.ts'
import { type CoverImage, newCover } from '../../catalog/cover/new-cover.ts'
import type { ThumbnailFormat } from '../../media/image/thumbnail-path.ts'
import { SourceFailure } from '../../sources/failure.ts'
import type { Sources } from '../../sources/open.ts'
import type { StoredSource } from '../../sources/stored/source.ts'
import type { Sql } from '../../store/postgres/db.ts'
import type { JobControl, JobOutcome } from '../../store/queue/job-run.ts'
import type { Jobs, Queue } from '../../store/queue/queue.ts'
import { fetchSetting } from '../../store/setting/setting.ts'
import { matchContexts } from '../match-context.ts'
import {
  type Claim,
  claimMatches,
  dropMatches,
  enqueueDedupeAfterMatch,
  finishMatch,
  postponeMatches,
  secondsUntilDue,
} from '../match-queue.ts'
import { autoMatch, describedSource, type MatchDeps } from '../matching.ts'
import { matchingOf } from '../matching-settings.ts'
import type { MatchResult } from '../outcome.ts'

type Deps = {
  sql: Sql
  queue: Queue
  sources: Sources
  dataDir: string
  makeCover: MatchDeps['makeCover']
}

const batch = 10
/** Limits a run, so that other libraries and sources get their turn. */
const maxRunMs = 60_000
const maxAttempts = 5
const maxWaitSeconds = 900
/** Failures after which the next attempt may succeed. */
const transient = new Set<SourceFailure['kind']>(['unreachable', 'timeout', 'limited'])

export async function runMatchJob(
  deps: Deps,
  job: Jobs['match'],
  { isStopped, signal }: JobControl,
): Promise<JobOutcome | undefined> {
  const { sql } = deps
  const until = Date.now() + maxRunMs
  const run: Run = { ...deps, job, isStopped, signal, hasMatched: false }
  try {
    while (!isStopped()) {
      const row = await findSource(run)
      if (row instanceof SourceFailure) return { end: 'later', seconds: waitSecondsOf(row) }
      if (!row?.enabled) {
        await dropMatches(sql, job, row ? 'plugin_disabled' : 'plugin_not_found')
        return undefined
      }
      const claims = await claimMatches(sql, job, batch)
      const waitSeconds = claims.length > 0 ? await matchClaims(run, row, claims) : null
      if (waitSeconds !== null) return { end: 'later', seconds: waitSeconds }
      if (claims.length === 0) {
        const seconds = await secondsUntilDue(sql, job)
        return seconds === null
          ? undefined
          : { end: 'later', seconds: Math.min(maxWaitSeconds, Math.max(1, Math.ceil(seconds))) }
      }
      if (Date.now() > until) return { end: 'later', seconds: 1 }
    }
    return undefined
  } finally {
    if (run.hasMatched) await enqueueDedupeAfterMatch(sql, deps.queue, job.libraryId)
  }
}

type Run = Deps & JobControl & { job: Jobs['match']; hasMatched: boolean }

/** Null for an unknown source; a failure if it cannot be called now. */
async function findSource({ job, ...deps }: Run): Promise<StoredSource | SourceFailure | null> {
  try {
    return await describedSource(deps, job.sourceId)
  } catch (error) {
    if (error instanceof NotFound) return null
    if (error instanceof SourceFailure) return error
    throw error
  }
}

/** Returns for how many seconds the source must not be called, or null when all claims are done. */
async function matchClaims(run: Run, row: StoredSource, claims: readonly Claim[]) {
  const { sql, job, isStopped, signal } = run
  const { kind } = job
  const ids = claims.map(claim => claim.id)
  const contexts = await matchContexts(sql, serverViewer, { kind, ids })
  const source = { row, matching: await matchingOf(sql, row.id) }
  const minRelevance = await fetchSetting(sql, 'plugins.auto_match_confidence_threshold')
  const { sources, makeCover, dataDir } = run
  const folders = coverFolders(dataDir)
  const deps = { sql, sources, viewer: serverViewer, makeCover, signal, folders }
  for (const [i, claim] of claims.entries()) {
    const { id, isForced } = claim
    const context = contexts.get(id)
    if (isStopped()) {
      await postponeMatches(sql, job, { claims: claims.slice(i), seconds: 0 })
      return null
    }
    // Deleted in the meantime.
    if (!context) continue
    try {
      const result = await autoMatch(deps, source, { context, minRelevance, isForced })
      run.hasMatched ||= result.outcome === 'matched'
      await finishMatch(sql, { owner: { kind, id }, sourceId: row.id }, result)
    } catch (error) {
      if (signal.aborted) {
        // Otherwise they would wait until their claims expire. The database may be gone.
        const rest = { claims: claims.slice(i), seconds: 0 }
        await postponeMatches(sql, job, rest).catch(() => {})
        throw error
      }
      if (!(error instanceof Failure)) throw error
      if (isTransient(error) && claim.attempts < maxAttempts) {
        const seconds = waitSecondsOf(error)
        await postponeMatches(sql, job, { claims: claims.slice(i), seconds })
        return seconds
      }
      await finishMatch(sql, { owner: { kind, id }, sourceId: row.id }, failed(error))
    }
  }
  return null
}

function isTransient(error: Failure): error is SourceFailure {
  return error instanceof SourceFailure && transient.has(error.kind)
}

function waitSecondsOf({ retryAt }: SourceFailure): number {
  const seconds = retryAt === null ? 10 : (retryAt.getTime() - Date.now()) / 1000
  return Math.min(maxWaitSeconds, Math.max(1, Math.ceil(seconds)))
}

const failed = (error: Failure): Omit<MatchResult, 'applied'> => ({
  ...{ outcome: 'failed', externalId: null, relevance: null, found: null },
  message: error.message.slice(0, 500),
})

type Options = { maxSide: number; format: ThumbnailFormat; quality: number }

/** Throws Unreadable if it is not an image. */
export async function makeSourceCover(
  threads: ThreadPool,
  original: Buffer,
  options: Options,
): Promise<NewCover> {
  const request = { items: [new Uint8Array(original)], options }
  const { done, failure } = await threads.run<Uint8Array, Options, CoverImage>('image', request, {})
  const [image] = done
  if (!image) throw unreadable(failure)
  if ('error' in image) throw unreadable(image.error)
  return newCover(original, image, options.format)
}

const unreadable = (failure: { code: UnreadableCode; message: string } | null) =>
  new Unreadable(
    failure?.message ?? 'The image cannot be read',
    failure?.code ?? 'unsupported_image',
  )
