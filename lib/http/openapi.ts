// The routes as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.0). The same routes give
// the same bytes.

import { ErrorBody, isBytes, LimitBody, type TSchema } from '../schema.ts'
import { errorName } from './error-response.ts'
import { addresses, type Method, type Need, type Route } from './route.ts'

type Json = Record<string, unknown>
/** `shown` stands in the document for a schema that checks less than it takes. */
type Annotated = Json & { component?: string; aliases?: unknown; texts?: string[]; shown?: Json }

export function openapiDocument(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {}
  const components = new Map<string, object>()
  for (const route of routes) {
    for (const { method, path: routed, hidden } of addresses(route)) {
      if (hidden) continue
      const path = documentPath(routed)
      const operation = describe(route, { method, path }, components)
      paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
    }
  }
  const tags = [...new Set(Object.keys(paths).map(tagOf))]
    .sort()
    .map(name => ({ name, description: chapters[name] ?? name }))
  const responses = problems(components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stackroom',
      version,
      description: 'A self-hosted digital library of comics, manga and ebooks.',
      license: { name: 'AGPL-3.0-or-later', identifier: 'AGPL-3.0-or-later' },
      contact: { name: 'Stackroom', url: 'https://stackroom.invalid' },
    },
    servers: [{ url: '/', description: 'This server' }],
    security: signedIn,
    tags,
    paths: sorted(paths),
    components: {
      schemas: sorted(Object.fromEntries(components)),
      responses: sorted(responses),
      securitySchemes,
    },
  }
}

const signedIn = [{ bearer: [] }, { apiKey: [] }, { basic: [] }]
const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or an API key.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'User name or e-mail, and the password or an API key.',
  },
  cookie: { type: 'apiKey', in: 'cookie', name: 'auth_token' },
}

const chapters: Record<string, string> = {
  admin: 'Settings with their history, and the tags that visibility rules speak of.',
  'api-keys': 'Keys for programs, with permissions of their own.',
  auth: 'Signing in and out, registration.',
  books: 'Books: lists, details, metadata, pages, files, progress.',
  duplicates: 'Books with equal content, series that may be the same.',
  events: 'What changes, as it happens.',
  filesystem: 'Folders of the server, for choosing the path of a library.',
  genres: 'Genres of all series.',
  health: 'Whether the server works.',
  info: 'What is running here.',
  libraries: 'Libraries: folders of books, their rules and scans.',
  metrics: 'What there is, and how the server is doing.',
  opds: 'Catalogues for reading apps: OPDS 1.2 below /opds/v1, OPDS 2.0 below /opds/v2.',
  progress: 'How far the caller has read.',
  scans: 'Scans of all libraries.',
  series: 'Series: lists, details, metadata, covers.',
  settings: 'The few settings that clients may read.',
  setup: 'The first administrator.',
  tags: 'Tags of all series.',
  user: 'The caller: profile, password, preferences.',
  users: 'Accounts and what they may see.',
}

/** A path as it stands in the document, where every parameter has a name. */
export const documentPath = (path: string): string => path.replace('{*}', '{path}')

type Place = { method: Method; path: string }

function describe(route: Route, { method, path }: Place, components: Map<string, object>): Json {
  const parameters = [...named(route.params, 'path'), ...named(route.query, 'query')]
  const needs = needOf(route.permission)
  return {
    operationId: operationId(method, path),
    summary: route.summary,
    ...(route.description || needs
      ? { description: [route.description, needs].filter(Boolean).join('\n\n') }
      : {}),
    tags: [tagOf(path)],
    security:
      route.permission === 'public' ? [] : route.cookie ? [...signedIn, { cookie: [] }] : signedIn,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(route, components),
    responses: responses(route, components),
  }
}

function needOf(need: Need): string {
  if (need === 'public' || need === 'auth') return ''
  if (typeof need === 'string') return `Needs the permission ${need}.`
  const all = (need.all ?? []).map(p => `${p} and `).join('')
  return `Needs the permissions ${all}${need.any.join(' or ')}.`
}

function named(schema: TSchema | undefined, place: 'path' | 'query') {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = plain(property) as Json
    return {
      name: name === '*' ? 'path' : name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    }
  })
}

function requestBody(route: Route, components: Map<string, object>) {
  if (route.multipart) {
    const file = { type: 'string', contentMediaType: 'application/octet-stream' }
    const schema = { type: 'object', required: ['file'], properties: { file } }
    const content = { 'multipart/form-data': { schema } }
    return { requestBody: { description: route.multipart.description, required: true, content } }
  }
  if (!route.body) return {}
  const content = { 'application/json': { schema: referred(route.body, components) } }
  return { requestBody: { required: !route.bodyOptional, content } }
}

function responses(route: Route, components: Map<string, object>) {
  const out: Record<string, Json> = {}
  for (const [status, schema] of Object.entries(route.responses)) {
    const description = words[status] ?? 'Success'
    if (schema === null) out[status] = { description }
    else if (isBytes(schema)) {
      out[status] = {
        description,
        content: Object.fromEntries(schema.bytes.map(type => [type, {}])),
      }
    } else {
      out[status] = {
        description,
        content: {
          'application/json': { schema: referred(schema, components) },
          ...Object.fromEntries(((schema as Annotated).texts ?? []).map(type => [type, {}])),
        },
      }
    }
  }
  for (const status of failures(route))
    out[status] ??= { $ref: `#/components/responses/${problemName(route, status)}` }
  return sorted(out)
}

const words: Record<string, string> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted',
  204: 'Done, no content',
  206: 'Part of the content',
  304: 'Not modified',
  400: 'The request is not valid',
  401: 'Authentication required',
  403: 'Permission missing',
  404: 'Not found, or not visible to this account',
  409: 'The state of the resource does not allow it',
  413: 'Too large',
  415: 'Media type not understood',
  416: 'Range not satisfiable',
  422: 'The file cannot be read',
  429: 'Too many requests',
  503: 'Not available now',
}

/** What any operation may answer when it does not do what it was asked, by the name of the error. */
function problems(components: Map<string, object>) {
  const answer = (status: string) => ({
    description: words[status]!,
    content: {
      'application/json': {
        schema: referred(status === '429' ? LimitBody : ErrorBody, components),
      },
    },
  })
  const all = everyFailure.map(status => [errorName(Number(status)), answer(status)])
  const challenge = { ...answer('401'), headers: challengeHeaders }
  const document = { 'application/opds-authentication+json': {} }
  return {
    ...Object.fromEntries(all),
    [challenges[1]]: challenge,
    [challenges[2]]: { ...challenge, content: document },
  }
}

const challenges = { 1: 'Challenge', 2: 'ChallengeDocument' }
const challengeHeaders = {
  'WWW-Authenticate': {
    schema: { type: 'string' },
    description: 'Basic, with the name of the server.',
  },
  Link: { schema: { type: 'string' }, description: 'The authentication document.' },
}

const problemName = ({ catalogue }: Route, status: string) =>
  status === '401' && catalogue !== undefined ? challenges[catalogue] : errorName(Number(status))

const everyFailure = ['400', '401', '403', '404', '409', '413', '415', '429', '503']

function failures(route: Route): string[] {
  const own = ['400', '429', '503']
  if (route.permission !== 'public' || route.body) own.push('401')
  if (route.permission !== 'public' || route.body) own.push('403')
  // Feeds can be narrowed to a library that is not seen.
  if (route.params || route.body || route.catalogue) own.push('404')
  if (route.body || route.multipart) own.push('413', '415')
  if (route.method !== 'GET') own.push('409')
  return own
}

function operationId(method: Method, path: string): string {
  const words = path
    .replace(/^\/api\/v1/, '')
    .split('/')
    .filter(Boolean)
  const place = words.map(word =>
    word.startsWith('{')
      ? `By${capital(word.slice(1, -1))}`
      : word.split(/[-_.]/).map(capital).join(''),
  )
  const root = path.startsWith('/api/v1') ? '' : 'Root'
  return `${method.toLowerCase()}${root}${place.join('')}`
}

const capital = (word: string) =>
  word.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
const tagOf = (path: string) => path.replace(/^\/api\/v1/, '').split('/')[1] ?? ''

/** A schema that is called a `component` stands once among the components and is referred to. */
function referred(schema: unknown, components: Map<string, object>): unknown {
  if (Array.isArray(schema)) return schema.map(member => referred(member, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const { component, aliases: _aliases, texts: _texts, shown, ...checked } = schema as Annotated
  const rest = shown ?? checked
  const inner = () =>
    Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [
        key,
        key === 'default' || key === 'examples' || key === 'enum'
          ? value
          : referred(value, components),
      ]),
    )
  if (!component) return inner()
  if (!components.has(component)) {
    components.set(component, {})
    components.set(component, inner())
  }
  return { $ref: `#/components/schemas/${component}` }
}

const plain = (schema: object) => referred(schema, new Map()) as object

function sorted<T>(members: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))
}
