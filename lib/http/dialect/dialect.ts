// Dialect of an HTTP server: how it reads requests, identifies callers and writes errors. The native one is
// in native.ts; compatible APIs have their own and share everything else.
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { Credential } from '../../accounts/credential.ts'
import type { BeforePassword, Identity } from '../../accounts/identify.ts'
import type { TSchema } from '../../base/schema.ts'
import type { Deps } from '../deps.ts'
import type { Challenge } from '../protocol.ts'
import type { Route } from '../route.ts'

/** Content of an error response. `retryAfter`: seconds, for 429. */
export type ErrorContent = {
  status: number
  message: string
  details: unknown
  retryAfter: number | null
}

type IdentifyInput = {
  route: Route
  request: FastifyRequest
  reply: FastifyReply
  /** The credential that only the protocol of the route knows; null without one. */
  credential: Credential | null
  beforePassword: BeforePassword
}

export type Dialect = {
  /** Served by another server under a prefix, or by its own listener. */
  isMounted: boolean
  /** Default for responses that set none. */
  cacheControl: string
  /** Accepts If-Match and If-Unmodified-Since for writes. */
  hasPreconditions: boolean
  /** Clients send requests without credentials until they are challenged. */
  isChallenged(route: Route): boolean
  compileValidator: FastifySchemaCompiler<TSchema>
  /** The identity of a request; null without credentials. Throws Unauthorized, Forbidden, RateLimited. */
  identify(input: IdentifyInput, deps: Deps): Promise<Identity | null>
  /** Challenge sent with a 401. */
  challenge(request: FastifyRequest, deps: Deps): Promise<Challenge | null>
  errorBody(content: ErrorContent, request: FastifyRequest): object
  /** Schemas of error bodies by status, for their serializers. */
  errorSchemas: Record<string, TSchema>
}
