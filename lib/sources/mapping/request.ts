// Requests to a service: address, body and credentials, as templates.
import { Invalid } from '../../base/errors.ts'
import { json, maybe, oneOf, type Static, strict, Type, text } from '../../base/schema.ts'
import { SourceFailure } from '../failure.ts'
import type { Outgoing } from '../http/client.ts'
import { checkHeaders } from '../http/headers.ts'
import { sourceTemplate } from './fields.ts'

// The host is not part of a template, so that no value can change it.
const UrlTemplate = (description: string) =>
  Type.String({ maxLength: 2000, pattern: '^https?://[^\\s/?#{}@]+(?:[/?#]|$)', description })

/** The settings of a request, as part of an object; `description` is that of the variables. */
export const requestSettings = (description: string) => ({
  url: UrlTemplate(`Handlebars template with ${description}; values are URL-encoded.`),
  method: maybe(oneOf(['GET', 'POST'], { default: 'GET' })),
  body: maybe(
    json({
      description:
        'For POST, sent as JSON. Its texts are templates with the same variables; `{"$number": "{{…}}"}` is a number.',
    }),
  ),
})
type RequestSettings = { url: string; method?: 'GET' | 'POST'; body?: unknown }

const templates = (description: string) =>
  maybe(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: 20,
      additionalProperties: text(500),
      description,
    }),
  )

/** Where the credentials of a source belong in its requests. */
export const Auth = strict(
  {
    headers: templates('Request headers: `{"Authorization": "Bearer {{token}}"}`.'),
    query: templates('Parameters of the URL: `{"api_key": "{{key}}"}`.'),
    basic: maybe(
      strict(
        { username: text(500), password: text(500) },
        { description: 'User name and password of HTTP Basic.' },
      ),
    ),
  },
  {
    description:
      'Templates whose variables are the credentials; a value that is empty is not sent. Without this setting, credentials are request headers.',
  },
)
export type Auth = Static<typeof Auth>

/** A request for the values of its variables. Throws SourceFailure. */
export type RequestOf = (context: object) => Outgoing

/** `label` is for error messages. Throws Invalid. */
export function compileRequest({ url, method, body }: RequestSettings, label: string): RequestOf {
  // A lone surrogate cannot be encoded in a URL.
  const escapeText = (value: string) => encodeURIComponent(value.toWellFormed())
  const render = sourceTemplate(url, `${label}.url`, { escapeText })
  if (method !== 'POST') {
    if (body !== undefined) throw new Invalid(`${label}.body requires the method POST`)
    return context => ({ url: withoutDotSegments(render(context)) })
  }
  const renderBody = compileBody(body ?? null, `${label}.body`, 0)
  return context => ({
    url: withoutDotSegments(render(context)),
    json: JSON.stringify(renderBody(context)),
  })
}

type Render = (context: object) => unknown
const maxDepth = 10

function compileBody(value: unknown, label: string, depth: number): Render {
  if (depth > maxDepth) throw new Invalid(`${label} is nested too deeply`)
  if (typeof value === 'string') return sourceTemplate(value, label)
  if (typeof value !== 'object' || value === null) return () => value
  const entries = Object.entries(value)
  const [only] = entries
  if (only?.[0] === '$number' && entries.length === 1 && typeof only[1] === 'string') {
    const render = sourceTemplate(only[1], label)
    return context => numberIn(render(context))
  }
  const members = entries.map(
    ([name, member]) => [name, compileBody(member, `${label}.${name}`, depth + 1)] as const,
  )
  if (Array.isArray(value)) return context => members.map(([, render]) => render(context))
  return context => Object.fromEntries(members.map(([name, render]) => [name, render(context)]))
}

function numberIn(value: string): number {
  const number = value.trim() === '' ? Number.NaN : Number(value)
  if (Number.isFinite(number)) return number
  throw new SourceFailure('A value of the request is not a number', 'invalid')
}

// Also matches escaped separators: some services decode a path before resolving it. Parsing drops tabs and line breaks.
const dotSegment = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i

/** A value such as `..` cannot be escaped: it would lead to another address of the service, with its credentials. */
function withoutDotSegments(url: string): string {
  const [path = ''] = url.replace(/[\t\r\n]/g, '').split(/[?#]/, 1)
  if (dotSegment.test(path))
    throw new SourceFailure('The request URL contains a . or .. segment', 'invalid')
  return url
}

/** Adds the credentials to a request. Throws Invalid. */
export function compileAuth(
  auth: Auth | undefined,
  credentials: Record<string, string>,
): (request: Outgoing) => Outgoing {
  if (auth === undefined) {
    checkHeaders(credentials)
    return request => ({ ...request, headers: credentials })
  }
  const rendered = (values: Record<string, string> | undefined, label: string) =>
    Object.entries(values ?? {}).flatMap(([name, template]) => {
      const value = sourceTemplate(template, `config.auth.${label}.${name}`)(credentials)
      return value === '' ? [] : [[name, value] as const]
    })
  const query = rendered(auth.query, 'query')
  const headers = Object.fromEntries(rendered(auth.headers, 'headers'))
  const { username = '', password = '' } = Object.fromEntries(rendered(auth.basic, 'basic'))
  if (username || password) headers.authorization = basicOf(username, password)
  checkHeaders(headers)
  return request => ({ ...request, headers, url: withParameters(request.url, query) })
}

const basicOf = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

function withParameters(address: string, parameters: (readonly [string, string])[]): string {
  const url = URL.parse(address)
  if (url === null || parameters.length === 0) return address
  for (const [name, value] of parameters) url.searchParams.append(name, value)
  return url.href
}
