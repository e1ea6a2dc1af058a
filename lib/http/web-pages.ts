// Contract between the HTTP server and the web application.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export type WebPages = {
  mount(server: FastifyInstance): void
  /** The application's HTML document, which shows the view of the requested address. */
  sendDocument(request: FastifyRequest, reply: FastifyReply): Promise<unknown>
  /** Builds the application; failures are logged. */
  prepare(): Promise<void>
}

/** Whether a browser is opening an address: other clients of unknown paths get a JSON error. */
export const isNavigation = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')
