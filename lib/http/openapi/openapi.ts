// OpenAPI 3.1 document generated from the routes (https://spec.openapis.org/oas/v3.1.0). Deterministic: the
// same routes produce the same bytes.
import type { TSchema } from '../../base/schema.ts'
import { type AccessRequirement, type Endpoint, endpoints, type Route } from '../route.ts'
import { errorResponses, responseHeaders, responsesOf } from './response.ts'
import { aliasesOf, aliasOf, type Json, requestSchema, type Schemas, sorted } from './schema.ts'

export function openapiDocument(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {}
  const schemas: Schemas = new Map()
  for (const route of routes) {
    for (const { method, path: routedPath, operationId } of endpoints(route)) {
      if (operationId === null) continue
      const path = documentPath(routedPath)
      const operation = operationOf(route, { path, operationId }, schemas)
      paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
    }
  }
  const protocols = [...new Set(routes.flatMap(({ protocol }) => protocol?.document ?? []))]
  const descriptions = Object.assign({}, tagDescriptions, ...protocols.map(({ tags }) => tags))
  const tags = [...new Set(Object.keys(paths).map(tagOf))]
    .sort()
    .map(name => ({ name, description: descriptions[name] ?? name }))
  const responses = errorResponses(schemas, protocols)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stackroom',
      version,
      description:
        'A self-hosted digital library for comics, manga and ebooks. Requests may use snake_case for the names of query parameters and fields (`page_size` for `pageSize`), and `1`, `0`, `True` and `False` as query booleans.',
      license: { name: 'AGPL-3.0-or-later', identifier: 'AGPL-3.0-or-later' },
      contact: { name: 'Stackroom', url: 'https://stackroom.invalid' },
    },
    servers: [{ url: '/', description: 'This server' }],
    security: authenticated,
    tags,
    paths: sorted(paths),
    components: {
      schemas: sorted(Object.fromEntries(schemas)),
      responses: sorted(responses),
      headers: sorted(responseHeaders),
      securitySchemes,
    },
  }
}

const authenticated = [{ bearer: [] }, { apiKey: [] }, { basic: [] }]
const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An access token or an API key.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key.' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'User name or e-mail address, with the password or an API key.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'auth_token',
    description: 'The session cookie, accepted for images, files and event streams.',
  },
}

const tagDescriptions: Record<string, string> = {
  admin: 'Server settings with their history, and sharing tags.',
  'api-keys': 'API keys with their own permissions.',
  auth: 'Sign-in, sign-out and registration.',
  books: 'Books: lists, details, metadata, pages, files and reading progress.',
  duplicates: 'Books with identical content, and series that may be the same.',
  events: 'Event stream of catalog changes.',
  filesystem: 'Directories on the server, for choosing the path of a library.',
  genres: 'Genres of all series.',
  health: 'Health checks.',
  info: 'Name and version of the server.',
  libraries: 'Libraries: folders of books with their settings and scans.',
  metrics: 'Catalog statistics and Prometheus metrics.',
  progress: 'Reading progress of the caller.',
  scans: 'Scans of all libraries.',
  series: 'Series: lists, details, metadata and covers.',
  settings: 'Settings that clients may read.',
  setup: 'Initial setup.',
  tags: 'Tags of all series.',
  tasks: 'Background tasks.',
  user: 'The caller: profile, password and preferences.',
  users: 'User accounts and what they may see.',
}

/** A path as written in the document, where every parameter has a name. */
export const documentPath = (path: string): string => path.replace('{*}', '{path}')

function operationOf(
  route: Route,
  { path, operationId }: Pick<Endpoint, 'path'> & { operationId: string },
  schemas: Schemas,
): Json {
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...parametersOf(route.query, 'query', schemas),
  ]
  const notes = [route.description, permissionNote(route.permission)].filter(Boolean)
  return {
    operationId,
    summary: route.summary,
    ...(notes.length > 0 ? { description: notes.join('\n\n') } : {}),
    tags: [tagOf(path)],
    security:
      route.permission === 'public'
        ? []
        : route.cookie
          ? [...authenticated, { cookie: [] }]
          : authenticated,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(route, schemas),
    responses: responsesOf(route, schemas),
  }
}

function permissionNote(requirement: AccessRequirement): string {
  if (requirement === 'public' || requirement === 'auth') return ''
  if (typeof requirement === 'string') return `Required permission: ${requirement}.`
  const all = (requirement.all ?? []).map(permission => `${permission} and `).join('')
  return `Required permissions: ${all}${requirement.any.join(' or ')}.`
}

const exampleId = '0193a4c2-7b1e-7c3a-9f52-6d8e0b4a1c77'

function parametersOf(schema: TSchema | undefined, location: 'path' | 'query', schemas: Schemas) {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const aliases = Object.entries(location === 'query' ? properties : {}).flatMap(
    ([name, property]) =>
      aliasesOf(name, properties).map(alias => [alias, aliasOf(name, property)] as const),
  )
  return [...Object.entries(properties), ...aliases].map(([name, property]) => {
    const { description = property.description, ...rest } = requestSchema(property, schemas) as Json
    return {
      name: name === '*' ? 'path' : name,
      in: location,
      required: location === 'path' || required.includes(name),
      ...(description ? { description } : {}),
      // An empty parameter counts as absent.
      ...(location === 'query' ? { allowEmptyValue: true } : {}),
      schema: rest,
      ...(rest.format === 'uuid' ? { example: exampleId } : {}),
    }
  })
}

function requestBody(route: Route, schemas: Schemas) {
  if (route.multipart) {
    const file = { type: 'string', contentMediaType: 'application/octet-stream' }
    const schema = { type: 'object', required: ['file'], properties: { file } }
    const { description, isXml } = route.multipart
    const xml = isXml ? { 'application/xml': { schema: { type: 'string' } } } : {}
    const content = { 'multipart/form-data': { schema }, ...xml }
    return { requestBody: { description, required: true, content } }
  }
  if (!route.body) return {}
  const content = { 'application/json': { schema: requestSchema(route.body, schemas) } }
  return { requestBody: { required: !route.bodyOptional, content } }
}

const tagOf = (path: string) => path.replace(/^\/api\/v1/, '').split('/')[1] ?? ''
