// Route definitions as values: path, permission, schemas and handler. server.ts mounts them, openapi.ts
// documents them, and table tests iterate over them.
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../accounts/identify.ts'
import type { Permission } from '../accounts/permission.ts'
import type { Viewer } from '../accounts/viewer.ts'
import type { Bytes, Static, TSchema } from '../base/schema.ts'
import type { Deps } from './deps.ts'
import type { Protocol } from './protocol.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

declare module 'fastify' {
  interface FastifyContextConfig {
    protocol?: Protocol
    /** Responses depend on the account. */
    isPersonal?: boolean
    /** The body may be XML, which is not parsed. */
    hasXmlBody?: true
  }
}

/** Anyone; any signed-in user; holders of a permission, or of all of `all` and one of `any`. */
export type AccessRequirement =
  | 'public'
  | 'auth'
  | Permission
  | { all?: readonly Permission[]; any: readonly Permission[] }

type Responses = Record<number, TSchema | Bytes | null>

/** A response with its own status or headers. */
export class RouteResponse<S = unknown, B = unknown> {
  readonly status: S
  readonly body: B
  readonly headers: Record<string, string>
  constructor(status: S, body: B, headers: Record<string, string>) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** `respond(204)`, `respond(201, key)`, `respond(200, stream, { etag })`. */
export function respond<S extends number, B = undefined>(
  status: S,
  body?: B,
  headers: Record<string, string> = {},
): RouteResponse<S, B> {
  return new RouteResponse(status, body as B, headers)
}

export type BinaryBody = Uint8Array | NodeJS.ReadableStream | string | null
/** `void`, which lint rules allow as a return type only: handlers of responses without content return nothing. */
type Nothing = ReturnType<() => void>
type Content<S> = S extends Bytes ? BinaryBody : S extends TSchema ? Static<S> : Nothing
/** The whole body, or a stream of its text as the schema's serializer would write it. */
type AnyResponse<R extends Responses> = {
  [K in keyof R]: RouteResponse<K, Content<R[K]> | (R[K] extends TSchema ? Readable : never)>
}[keyof R]
type PlainBody<R extends Responses> = R extends { 200: infer S }
  ? Content<S>
  : R extends { 201: infer S }
    ? Content<S>
    : R extends { 202: infer S }
      ? Content<S>
      : Nothing

type StaticOf<S> = S extends TSchema ? Static<S> : undefined

/** Input of a handler. On public routes `identity` may be null and there is no `viewer`. */
export type Input<N, P, Q, B> = {
  params: StaticOf<P>
  query: StaticOf<Q>
  body: StaticOf<B>
  identity: N extends 'public' ? Identity | null : Identity
  viewer: N extends 'public' ? undefined : Viewer
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  request: FastifyRequest
  reply: FastifyReply
}

export type AdmittedCost = 'list' | 'expensive'

/** An additional method or path of a route. */
type Alias = {
  method?: Method
  path?: string
  /** Name in the OpenAPI document; without it the alias is omitted. */
  operationId?: string
  /** Matches only requests with `full=true` in the query. */
  whenFull?: true
}

type RouteSpec<
  N extends AccessRequirement,
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
  R extends Responses,
> = {
  /** Name in the OpenAPI document and in generated clients. */
  operationId: string
  aliases?: readonly Alias[]
  /** The native API if absent. */
  protocol?: Protocol
  /** The path is not below /api/v1. */
  atRoot?: true
  summary: string
  description?: string
  permission: N
  /** Accepts the session cookie, for `<img>` and EventSource, which cannot send headers. */
  cookie?: true
  /** Responds even while the database is unavailable; every other route returns 503. */
  withoutDatabase?: true
  /**
   * Database work of the handler. With `list` or `expensive` it waits for the account's limit, and its `sql`
   * is canceled when the client disconnects (list-gate.ts); with `record` it runs at once, for a bounded
   * number of rows. See `costOf` for the default.
   */
  cost?: 'record' | 'list' | ((input: Input<N, P, Q, B>) => AdmittedCost)
  /** Rate limit bucket. */
  bucket?: 'images' | 'login' | 'exempt'
  /**
   * Also limits attempts per account: the caller's, or the one named by this field of the body. `own`: the
   * caller, if the body has a password and the path names the caller. `address`: the caller's attempts to
   * change the e-mail address.
   */
  guesses?: 'caller' | 'own' | 'username' | 'address'
  params?: P
  query?: Q
  body?: B
  bodyOptional?: true
  /**
   * A multipart body, which the handler reads from `request.parts()`; with `isXml` XML too, as the stream
   * `request.body`.
   */
  multipart?: { description: string; isXml?: true }
  /** By status, null for no content; a plain result gets the first status. */
  responses: R
  handle: (
    input: Input<N, P, Q, B>,
    deps: Deps,
  ) => Promise<PlainBody<R> | AnyResponse<R>> | PlainBody<R> | AnyResponse<R>
}

/** A route without its static types, for lists of routes. */
export type Route = Omit<
  RouteSpec<
    AccessRequirement,
    TSchema | undefined,
    TSchema | undefined,
    TSchema | undefined,
    Responses
  >,
  'handle' | 'cost'
> & {
  method: Method
  /** Relative to /api/v1, with `{name}` for parameters and `{*}` for the rest of the path; each is in `params`. */
  path: string
  cost?: 'record' | 'list' | ((input: never) => AdmittedCost)
  handle: (input: never, deps: Deps) => unknown
}

/** A route such as `route('GET /books/{id}', {…})`; type-checks the handler against the schemas and the permission. */
export function route<
  const N extends AccessRequirement,
  R extends Responses,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(address: `${Method} ${string}`, spec: RouteSpec<N, P, Q, B, R>): Route {
  const [method, path] = address.split(' ') as [Method, string]
  return { method, path, ...spec }
}

/**
 * The cost of a route. By default every read is a list, including a POST that only needs permissions to read.
 * Exceptions: one record by its id, data of the caller's own account, images and public routes.
 */
export function costOf({ cost, path, permission, bucket, ...route }: Route) {
  if (cost !== undefined) return cost
  if (permission === 'public' || permission === 'auth' || bucket === 'images') return 'record'
  return isRead({ ...route, permission }) && !path.endsWith('}') ? 'list' : 'record'
}

/** Whether requests change nothing, judging by method and permission. */
export function isRead({ method, permission }: Pick<Route, 'method' | 'permission'>): boolean {
  if (method === 'GET') return true
  const needed =
    typeof permission === 'string' ? [permission] : [...(permission.all ?? []), ...permission.any]
  return method === 'POST' && needed.every(name => name.endsWith('Read'))
}

/** A path in the router's syntax. */
export const routerPath = (path: string): string =>
  path.replace(/\{(\w+)\}/g, ':$1').replace('{*}', '*')

export type Endpoint = {
  method: Method
  path: string
  /** Null for endpoints omitted from the OpenAPI document. */
  operationId: string | null
  whenFull: boolean
}

/** Methods and full paths of a route; its own come first. */
export function endpoints({ method, path, operationId, atRoot, aliases = [] }: Route): Endpoint[] {
  const own: Alias = { operationId }
  return [own, ...aliases].map(alias => ({
    method: alias.method ?? method,
    path: `${atRoot ? '' : '/api/v1'}${alias.path ?? path}`,
    operationId: alias.operationId ?? null,
    whenFull: alias.whenFull ?? false,
  }))
}

/** Returns a function that lists the methods of the routes at a URL; none for an unknown path. */
export function methodsByPath(routes: readonly Route[]): (url: string) => string[] {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of routes.flatMap(endpoints)) {
    const known = methods.get(path) ?? new Set()
    methods.set(path, known.add(method))
    if (method === 'GET') known.add('HEAD')
  }
  const patterns = [...methods].map(([path, names]) => {
    const source = path
      .replace(/[.+$]/g, '\\$&')
      .replace(/\{\w+\}/g, '[^/]+')
      .replace('{*}', '.*')
    return { pattern: new RegExp(`^${source}/?$`), names }
  })
  return url => {
    const path = url.split('?')[0]!
    const matching = patterns.filter(({ pattern }) => pattern.test(path))
    return [...new Set(matching.flatMap(({ names }) => [...names]))].sort()
  }
}

/** Whether the query of a URL selects the long form (`full=true`). */
export const isFull = (url: string): boolean => /[?&]full=(?:true|1)(?=&|#|$)/i.test(url)
