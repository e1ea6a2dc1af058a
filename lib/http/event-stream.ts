// Response of an event stream (SSE), which is joined to the feed until its client leaves.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Stream } from '../store/event/event-rows.ts'
import { eventStream } from '../store/event/sse-stream.ts'
import type { Deps } from './deps.ts'
import { respond } from './route.ts'

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

type Joining = { request: FastifyRequest; reply: FastifyReply; signal: AbortSignal }
type Joined = {
  accountId: string
  stream: Stream
  /** Called once events are received. */
  optionsOf: () => Promise<Parameters<typeof eventStream>[2]>
}

export async function eventStreamResponse(
  { request, reply, signal }: Joining,
  { feed }: Pick<Deps, 'feed'>,
  { accountId, stream, optionsOf }: Joined,
) {
  // A stream never ends, and HEAD would wait for its end.
  if (request.method === 'HEAD') return respond(200, Readable.from([]), headers)
  const listener = await feed.join({ accountId, stream, end: () => reply.raw.destroy() })
  try {
    signal.addEventListener('abort', listener.leave)
    if (signal.aborted) listener.leave()
    const options = await optionsOf()
    return respond(200, Readable.from(eventStream(feed, listener, options)), headers)
  } catch (error) {
    listener.leave()
    throw error
  }
}
