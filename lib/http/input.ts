// Input of a route handler, with a signal that aborts when its response is no longer needed.
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What a handler gets; `abandon` aborts its signal as if the client had disconnected. */
export function inputOf(request: FastifyRequest, reply: FastifyReply) {
  let controller: AbortController | undefined
  let isAbandoned = false
  return {
    input: {
      params: request.params,
      query: request.query,
      body: request.body,
      identity: request.identity,
      viewer: request.identity?.viewer,
      request,
      reply,
      get signal() {
        controller ??= disconnectController(reply)
        if (isAbandoned) controller.abort()
        return controller.signal
      },
    },
    abandon() {
      isAbandoned = true
      controller?.abort()
    },
  }
}

function disconnectController(reply: FastifyReply): AbortController {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  // No `close` event follows if the client disconnected during authentication.
  if (hasDisconnected(reply)) controller.abort()
  return controller
}

/** Whether the client disconnected before its response was sent. */
export const hasDisconnected = ({ raw }: FastifyReply) => raw.destroyed && !raw.writableFinished
