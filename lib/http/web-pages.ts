// Contract between the HTTP server and the web application.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export type WebPages = {
  mount(server: FastifyInstance): void
  /** The document of the application, which shows the view of the requested address. */
  sendDocument(request: FastifyRequest, reply: FastifyReply): Promise<unknown>
  /** Builds the application; failures are logged. */
  prepare(): Promise<void>
}

/** Whether a browser opens an address: other clients of unknown paths get an error as JSON. */
export const isNavigation = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')
