// The HTTP server. Routes are values; this mounts them and holds the one error answer.
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Sql } from '../db.ts'
import { Failure, NotFound } from '../errors.ts'
import type { Log } from '../log.ts'
import { health } from './health.ts'
import type { Route } from './route.ts'

export const routes: Route[] = [health]

/** A server that is ready to listen. */
export function openServer({ sql, log }: { sql: Sql; log: Log }): FastifyInstance {
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
  })
  for (const route of routes) {
    server.route({
      method: route.method,
      url: route.path,
      schema: { response: route.responses },
      handler: async (_request, reply) => {
        const answer = await route.handle({ sql })
        return reply.code(answer.status).send(answer.body)
      },
    })
  }
  server.setNotFoundHandler(() => {
    throw new NotFound('There is nothing at this address')
  })
  server.setErrorHandler((error, request, reply) => {
    const status =
      error instanceof Failure
        ? error.status
        : ((error as { statusCode?: number }).statusCode ?? 500)
    if (status >= 500) request.log.error({ err: error }, 'request failed')
    const message = status >= 500 ? 'The server failed' : (error as Error).message
    const details = error instanceof Failure ? error.details : null
    return reply.code(status).send({ error: (error as Error).name, message, details })
  })
  return server
}
