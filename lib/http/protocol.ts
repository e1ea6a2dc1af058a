// A protocol that shares a server with the native API, as a value that its routes refer to: how its paths are
// read and its callers sign in. A protocol with its own errors has a `Dialect` and its own server.
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
  /** First segments of its paths; a base path may have the same name. */
  roots: readonly string[]
  /**
   * Maps another spelling of one of the protocol's paths to the route's path; returns other paths unchanged.
   */
  rewrite?(path: string, headers: IncomingHttpHeaders, config: Config): string
  /** A credential specific to this protocol, which takes precedence; null without one. */
  credential?(request: FastifyRequest): Credential | null
  /** The 401 for requests without credentials, for clients that send none until challenged. */
  challenge?(request: FastifyRequest, deps: Deps): Promise<Challenge>
  /** Request headers for `Vary`, besides those of all routes. */
  varyOf?(request: FastifyRequest): readonly string[]
  document?: ProtocolDocument
}

/** What the protocol adds to the OpenAPI document. */
export type ProtocolDocument = {
  /** Descriptions by tag. */
  tags: Record<string, string>
  /** Error statuses of every route. */
  statuses: readonly string[]
  /** Responses for 401 by name, with the media type of the body; null for the usual error. */
  challenges: Record<string, string | null>
  challengeOf(path: string): string
}
