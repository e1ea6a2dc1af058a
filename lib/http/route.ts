// A route is a value: its address, who may use it, what it takes and answers, and the function that
// does it. server.ts mounts it, openapi.ts describes it, tests walk over it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../auth/identify.ts'
import type { Permission } from '../auth/permission.ts'
import type { Viewer } from '../auth/viewer.ts'
import type { Version } from '../opds/tree.ts'
import type { Bytes, Static, TSchema } from '../schema.ts'
import type { Deps } from './deps.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

declare module 'fastify' {
  interface FastifyContextConfig {
    catalogue?: Version
    /** What is answered depends on who asks. */
    isPersonal?: boolean
  }
}

/** Who may call: anyone; anyone signed in; holders of a permission, or of all and any of some. */
export type Need =
  | 'public'
  | 'auth'
  | Permission
  | { all?: readonly Permission[]; any: readonly Permission[] }

type Responses = Record<number, TSchema | Bytes | null>

/** What a handler answers when it is more than the body of the route's first response. */
export class Answer<S = unknown, B = unknown> {
  readonly status: S
  readonly body: B
  readonly headers: Record<string, string>
  constructor(status: S, body: B, headers: Record<string, string>) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** An answer with its status: `answer(204)`, `answer(201, key)`, `answer(200, stream, {…})`. */
export function answer<S extends number, B = undefined>(
  status: S,
  value?: B,
  headers: Record<string, string> = {},
): Answer<S, B> {
  return new Answer(status, value as B, headers)
}

export type Binary = Uint8Array | NodeJS.ReadableStream | string | null
type Content<S> = S extends Bytes ? Binary : S extends TSchema ? Static<S> : undefined
type AnyAnswer<R extends Responses> = {
  [K in keyof R]: Answer<K, Content<R[K]>>
}[keyof R]
type Plain<R extends Responses> = R extends { 200: infer S }
  ? Content<S>
  : R extends { 201: infer S }
    ? Content<S>
    : R extends { 202: infer S }
      ? Content<S>
      : undefined

type Of<S> = S extends TSchema ? Static<S> : undefined

/** `viewer` decides what is seen (lib/catalog/viewer.ts). For public routes `identity` may be null and `viewer` is not there. */
export type Input<N, P, Q, B> = {
  params: Of<P>
  query: Of<Q>
  body: Of<B>
  identity: N extends 'public' ? Identity | null : Identity
  viewer: N extends 'public' ? undefined : Viewer
  /** Aborted when the client goes away. */
  signal: AbortSignal
  request: FastifyRequest
  reply: FastifyReply
}

export type RouteOf<
  N extends Need,
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
  R extends Responses,
> = {
  method: Method
  /** Below /api/v1, with `{name}` for parameters, and `{*}` for all that follows; each is declared in `params`. */
  path: string
  /** Other verbs and paths that do the same; those with `hidden` are left out of the document. */
  also?: readonly { method?: Method; path?: string; hidden?: true }[]
  /** Part of the OPDS catalogue of that version: whoever sends no credentials is challenged for them. */
  catalogue?: Version
  /** The path starts at the root of the server instead. */
  atRoot?: true
  summary: string
  description?: string
  permission: N
  /** Session cookie accepted: for `<img>` and streams, which cannot send headers. */
  cookie?: true
  /** Which bucket pays; `default` if not said. */
  bucket?: 'images' | 'login' | 'exempt'
  params?: P
  query?: Q
  body?: B
  /** The body may be left out. */
  bodyOptional?: true
  /** A multipart body, read by the handler through `request.parts()`. */
  multipart?: { description: string }
  /** By status; null means no content. The first is the usual one. */
  responses: R
  handle: (
    input: Input<N, P, Q, B>,
    deps: Deps,
  ) => Promise<Plain<R> | AnyAnswer<R>> | Plain<R> | AnyAnswer<R>
}

/** A route whose types are forgotten, for lists of routes. */
export type Route = Omit<
  RouteOf<Need, TSchema | undefined, TSchema | undefined, TSchema | undefined, Responses>,
  'handle'
> & { handle: (input: never, deps: Deps) => unknown }

/** Checks a route against its own schemas and permission; forgets the types. */
export function route<
  const N extends Need,
  R extends Responses,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(spec: RouteOf<N, P, Q, B, R>): Route {
  return spec as unknown as Route
}

/** A path as the router writes it. */
export const routerPath = (path: string): string =>
  path.replace(/\{(\w+)\}/g, ':$1').replace('{*}', '*')

/** The methods and full paths at which a route answers, its own first. */
export function addresses(route: Route): { method: Method; path: string; hidden: boolean }[] {
  const base = route.atRoot ? '' : '/api/v1'
  const own = { method: route.method, path: route.path, hidden: false }
  const others = (route.also ?? []).map(a => ({ ...own, ...a, hidden: a.hidden ?? false }))
  return [own, ...others].map(a => ({ ...a, path: `${base}${a.path}` }))
}
