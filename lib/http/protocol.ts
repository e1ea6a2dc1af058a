// A protocol that shares a server with the native API, as a value that its routes name: how its addresses are
// read, and how its callers sign in. A protocol with errors of its own has a `Dialect` and a server of its own.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Credential } from '../accounts/credential.ts'
import type { Config } from '../store/config/config.ts'
import type { Deps } from './deps.ts'

/** Headers of a 401; `document` replaces the error body. */
export type Challenge = {
  headers: Record<string, string>
  document: { type: string; text: string } | null
}

export type Protocol = {
  /** First segments of its addresses; a base path may have the same name. */
  roots: readonly string[]
  /** The path of a route, for an address of the protocol in another spelling; other paths as they are. */
  rewrite?(path: string, headers: IncomingHttpHeaders, config: Config): string
  /** A credential that only requests of this protocol have, before those of all others; null without one. */
  credential?(request: FastifyRequest): Credential | null
  /** The 401 of requests without credentials, for clients that send none until they get it. */
  challenge?(request: FastifyRequest, deps: Deps): Promise<Challenge>
  /** Request headers, for `Vary`, beside those of all routes. */
  varyOf?(request: FastifyRequest): readonly string[]
  document?: ProtocolDocument
}

/** What the OpenAPI document has of the protocol. */
export type ProtocolDocument = {
  /** Descriptions by tag. */
  tags: Record<string, string>
  /** Statuses of errors of every route. */
  statuses: readonly string[]
  /** Responses for 401 by name: media type of the body, null for the usual error. */
  challenges: Record<string, string | null>
  challengeOf(path: string): string
}
