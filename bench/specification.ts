// Compares the routes and records with the tables of an API specification in Markdown: rows
// `| GET | /path | …` with the routes, and tables and lists of fields with the OpenAPI document: names, types, null and
// required ones. node bench/specification.ts FILE
import { readFileSync } from 'node:fs'
import { resources } from '../lib/api/resources.ts'
import { openapiDocument } from '../lib/http/openapi/openapi.ts'
import { endpoints } from '../lib/http/route.ts'
import { type Schema, schemasAt } from './kit/schema-paths.ts'
import { print } from './kit/stackroom.ts'

const text = readFileSync(process.argv[2]!, 'utf8')
const document = openapiDocument(resources, '0') as unknown as Document

type Content = { content?: Record<string, { schema: Schema }> }
type Operation = {
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: Content
  responses: Record<string, Content>
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const operation = (method: string, path: string) => document.paths[`/api/v1${path}`]?.[method]
const json = (content: Content | undefined) => content?.content?.['application/json']?.schema
const request = (method: string, path: string) => json(operation(method, path)?.requestBody)
const response = (method: string, path: string) => {
  const { responses = {} } = operation(method, path) ?? {}
  return json(responses[200] ?? responses[201])
}
const query = (path: string): Schema => {
  const parameters = operation('get', path)?.parameters ?? []
  return { properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])) }
}

/** Where the records of the sections are; other sections are named as components. */
const sections: Record<string, () => Schema | undefined> = {
  'Login response': () => response('post', '/auth/login'),
  'Login request body': () => request('post', '/auth/login'),
  'API key': () => response('post', '/api-keys'),
  'Create request body': () => request('post', '/api-keys'),
  'Library (create request)': () => request('post', '/libraries'),
  'Reading progress (update request)': () => request('put', '/books/{id}/progress'),
  'Page image query parameters': () => query('/books/{book_id}/pages/{page_number}'),
  'Paginated response (all paginated lists)': () => response('get', '/series'),
  'Advanced filter request body (POST list endpoints)': () => request('post', '/series/list'),
  'Error body': () => document.components.schemas.Error,
  ReleaseLedgerEntryDto: () => document.components.schemas.Release,
}
/** Lists of fields that begin with these words, by their place in the record of the section. */
const lists: Record<string, string[]> = {
  'External ID context': ['externalIds', '*'],
  'Lock flags': ['metadata'],
}

type Field = { section: string; path: string[]; type: string; isRequired: boolean }

const names = (line: string) =>
  [...line.replace(/\([^()]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, name]) => name!)

/** `| name | type | notes |`; an object names its members in the notes. */
function* rowFields(line: string, { section, path }: Pick<Field, 'section' | 'path'>) {
  const [name = '', type = '', notes = ''] = line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim())
  if (!/^[\w.]+$/.test(name) || ['Field', 'Parameter'].includes(name)) return
  const field = { section, path: [...path, ...name.split('.')], type }
  yield { ...field, isRequired: /^[^{]*\brequired\b/.test(type) }
  if (/^(?:object|array)\b/.test(type) && !type.includes('{'))
    for (const member of names(notes))
      yield { section, path: [...field.path, member], type: '', isRequired: false }
  for (const [, members = ''] of type.matchAll(/\{([^}]*)\}/g))
    for (const [, member = ''] of members.matchAll(/(\w+):/g))
      yield { section, path: [...field.path, '*', member], type: '', isRequired: false }
}

/** `` `summary`: `books`, … `` or `Lock flags (…): …`. */
function* listFields(line: string, section: string) {
  const [, label, rest] =
    /^(`\w+(?:\[\])?`|[A-Z][^:`|]*?)(?: object)?(?: \([^)]*\))?: (.+)$/.exec(line) ?? []
  if (!label || !rest) return
  const own = /^`(\w+)/.exec(label)?.[1]
  const known = label in lists || label in sections
  if (!own && !known) return
  const nested = own ? [own, ...(label.includes('[]') ? ['*'] : [])] : (lists[label] ?? [])
  const path = own === 'duration' ? ['summary', own] : nested
  for (const name of names(rest))
    yield {
      section: label in sections ? label : section,
      path: [...path, name],
      type: '',
      isRequired: false,
    }
}

function* fieldsOf(markdown: string): Generator<Field> {
  const records = markdown.split(/^## /m).find(part => part.startsWith('2. ')) ?? ''
  for (const part of records.split(/^### /m).slice(1)) {
    const [section = '', ...lines] = part.split('\n')
    let path: string[] = []
    for (const line of lines) {
      const ofMember = /^`(\w+)` fields/.exec(line)
      if (ofMember) path = [ofMember[1]!]
      else if (line.startsWith('|')) yield* rowFields(line, { section, path })
      else yield* listFields(line, section)
    }
    const [prose = ''] = lines.filter(line => line.trim() !== '' && !line.startsWith('|'))
    if (section === 'Error body')
      for (const name of names(prose)) yield { section, path: [name], type: '', isRequired: false }
  }
}

/** What is wrong with a field; null for nothing. */
function problemOf({ section, path, type, isRequired }: Field): string | null {
  const root = sections[section]?.() ?? document.components.schemas[section.replace(/ \(.*$/, '')]
  if (!root) return 'no such record'
  const { components } = document
  const found = schemasAt(root, path, components.schemas)
  if (found.schemas.length === 0) return 'missing'
  if (isRequired && !found.isRequired) return 'not required'
  const types = found.schemas.flatMap(schema => schema.type ?? [])
  const isResponse = !/request|query/.test(section)
  if (isResponse && type !== '' && !/\bnull\b/.test(type) && types.includes('null'))
    return 'may be null'
  const wanted = Object.entries(typeNames).find(([name]) => type.startsWith(name))?.[1]
  const isKnown = !wanted || types.length === 0 || types.some(name => wanted.includes(name))
  return isKnown ? null : `${types.join(' or ')} instead of ${type}`
}
const typeNames: Record<string, string[]> = {
  'string[]': ['array'],
  string: ['string'],
  uuid: ['string'],
  timestamp: ['string'],
  integer: ['integer'],
  number: ['number', 'integer'],
  boolean: ['boolean'],
  array: ['array'],
  object: ['object'],
}

const served = new Set(resources.flatMap(endpoints).map(a => `${a.method} ${a.path}`))
const row = /^\|\s*(GET|POST|PUT|PATCH|DELETE)\s*\|\s*(\/\S+)\s*\|/gm
const wanted = new Set([...text.matchAll(row)].map(([, method, path]) => `${method} ${path}`))
const fields = [...fieldsOf(text)]
const problems = [
  ...[...wanted]
    .filter(name => !served.has(name.replace(' ', ' /api/v1')))
    .map(name => `${name}: missing`),
  ...fields.flatMap(field => {
    const problem = problemOf(field)
    return problem ? [`${field.section}: ${field.path.join('.')}: ${problem}`] : []
  }),
]
print({
  endpoints: wanted.size,
  fields: fields.length,
  served: served.size,
  missing: problems.length,
  ...(problems.length > 0 ? { problems } : {}),
})
process.exitCode = problems.length > 0 ? 1 : 0
