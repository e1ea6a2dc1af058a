// OpenAPI document: complete, valid, consistent, reproducible.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { test } from 'tap'
import { parse } from 'yaml'
import { resources } from '../../lib/api/resources.ts'
import { version } from '../../lib/base/version.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import { commandLine } from '../kit/command.ts'

const document = openapiDocument(resources, '1.2.3') as any
const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
  Object.entries<any>(methods).map(([method, operation]) => ({ path, method, operation })),
)

test('the document has every operation of the specification', async t => {
  const file = join(import.meta.dirname, 'specification.txt')
  const wanted = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split(' ') as [string, string])
  t.ok(wanted.length > 80)
  for (const [method, path] of wanted) {
    t.ok(document.paths[`/api/v1${path}`]?.[method.toLowerCase()], `${method} ${path}`)
  }
})

/** Objects whose names are the client's. */
const freeForm = new Set(['CustomMetadataInput', 'VolumeChapterMap'])

test('no object of a response is documented without its properties', t => {
  const schemas = Object.entries<any>(document.components.schemas)
  for (const [name, schema] of schemas)
    if (
      schema.type === 'object' &&
      !Object.keys(schema).some(key => /^(?:additional|pattern)Properties$/.test(key)) &&
      !freeForm.has(name)
    )
      t.ok(Object.keys(schema.properties ?? {}).length > 0, name)
  const required = schemas.flatMap(([name, { required = [], properties = {} }]) =>
    required.filter((key: string) => !(key in properties)).map((key: string) => `${name}.${key}`),
  )
  t.same(required, [])
  t.end()
})

test('the document is valid', async t => {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  t.ok(valid, JSON.stringify(errors)?.slice(0, 2000))
  const config = await createConfig({
    extends: ['recommended'],
    rules: { 'no-server-example.com': 'off', 'operation-4xx-response': 'error' },
  })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  t.same(problems.map(p => `${p.ruleId} ${p.message} ${p.location[0]?.pointer}`).slice(0, 20), [])
})

test('operations have unique readable ids, summaries and errors', async t => {
  const ids = operations.map(o => o.operation.operationId)
  t.equal(new Set(ids).size, ids.length)
  for (const { path, method, operation } of operations) {
    t.match(operation.operationId, /^[a-z]+(?:[A-Z0-9][a-z0-9]*)*$/, `${method} ${path}`)
    t.match(operation.summary, /^[A-Z].{3,80}$/, `${method} ${path} has a summary`)
    t.ok(Object.keys(operation.responses).some(status => status.startsWith('2')))
    const declared = (operation.parameters ?? [])
      .filter((p: any) => p.in === 'path')
      .map((p: any) => p.name)
    t.same(
      declared,
      [...path.matchAll(/\{(\w+)\}/g)].map(m => m[1]),
      `${path} declares its parameters`,
    )
  }
})

test('every parameter has a description', async t => {
  for (const { path, method, operation } of operations)
    for (const { name, description } of operation.parameters ?? [])
      t.match(description, /^[A-Z`].*\.$/s, `${method} ${path} ${name}`)
})

test('sort orders, permissions, roles and strategies are enums; page sizes have a maximum', async t => {
  const { schemas } = document.components
  for (const { path, operation } of operations)
    for (const { name, schema, description } of operation.parameters ?? []) {
      if (['sort', 'order', 'mode', 'matchType'].includes(name))
        t.ok(schema.enum, `${path} ${name}`)
      if (name === 'pageSize' && !path.startsWith('/opds'))
        t.match(description, /at most (?:500|100)/, path)
    }
  t.ok(parameter('/api/v1/books', 'sort').schema.enum.includes('title,desc'))
  t.ok(schemas.Permission.enum.includes('BooksRead'))
  t.same(schemas.Role.enum, ['reader', 'maintainer', 'admin'])
  const [permissions] = schemas.ApiKeyCreate.properties.permissions.anyOf
  t.same(permissions.items, reference('Permission'))
  t.same(schemas.UserCreate.properties.role.anyOf[0], reference('Role'))
  for (const strategy of ['seriesStrategy', 'bookStrategy', 'numberStrategy'])
    t.ok(JSON.stringify(schemas.LibraryCreate.properties[strategy]).includes('"enum"'), strategy)
})

test('requests may use other names of a field, and null for an unchanged one', async t => {
  const { schemas } = document.components
  for (const [component, names] of Object.entries({
    ProgressUpdate: ['currentPage', 'isCompleted', 'completed'],
    LibraryCreate: ['scanningConfig'],
    ScanningConfigInput: ['cronSchedule', 'defaultMode', 'scanOnStart', 'scanMode'],
  }))
    for (const name of names) t.ok(schemas[component].properties[name], `${component} ${name}`)
  for (const name of ['libraryId', 'seriesId', 'pageSize'])
    t.ok(parameter('/api/v1/books', name), name)
  t.ok(parameter('/api/v1/books', 'sort').schema.enum.includes('created_at,desc'))
  t.ok(JSON.stringify(schemas.UserUpdate.properties.role).includes('"null"'))
  t.same(schemas.NewSeriesSharingTag.required, ['sharingTagId'])
})

test('schemas of objects are named components, without duplicates', async t => {
  for (const { path, method, operation } of operations) {
    const body = operation.requestBody?.content['application/json']?.schema
    if (body) t.ok(body.$ref, `body of ${method} ${path}`)
    for (const [status, response] of Object.entries<any>(operation.responses)) {
      const schema = response.content?.['application/json']?.schema ?? {}
      t.notOk(schema.properties, `${status} of ${method} ${path}`)
      t.notOk(schema.items?.properties, `items of ${status} of ${method} ${path}`)
    }
  }
  const counts = new Map<string, number>()
  const count = (schema: any) => {
    if (typeof schema !== 'object' || schema === null) return
    const text = JSON.stringify(schema)
    if (schema.properties && text.length > 150) counts.set(text, (counts.get(text) ?? 0) + 1)
    for (const member of Object.values(schema)) count(member)
  }
  count(document.components.schemas)
  t.same(
    [...counts].filter(([, n]) => n > 1).map(([text]) => text.slice(0, 200)),
    [],
    'no inline schema is repeated',
  )
})

test('every list with pages has the page of the specification', async t => {
  const { schemas } = document.components
  const members = ['data', 'page', 'pageSize', 'total', 'totalPages', 'links']
  const paged = operations.filter(
    ({ path, operation }) =>
      !path.startsWith('/opds') &&
      (operation.parameters ?? []).some((p: any) => p.name === 'pageSize'),
  )
  t.ok(paged.length > 40)
  for (const { path, method, operation } of paged) {
    const schema = operation.responses[200].content['application/json'].schema
    const pages = (schema.anyOf ?? [schema]).filter((variant: any) => variant.$ref)
    t.ok(pages.length > 0, `${method} ${path}`)
    for (const { $ref } of pages) {
      const { required, properties } = schemas[$ref.split('/').at(-1)]
      t.same(
        members.filter(name => !required.includes(name)),
        [],
        `${method} ${path}`,
      )
      t.equal(properties.data.type, 'array', `${method} ${path}`)
    }
  }
})

test('responses have one shape, and lists are members of it', async t => {
  for (const { path, method, operation } of operations) {
    t.notOk(
      (operation.parameters ?? []).some((p: any) => p.name === 'full'),
      `${method} ${path}: /full is a route of its own`,
    )
    for (const response of Object.values<any>(operation.responses)) {
      const { type, anyOf = [] } = response.content?.['application/json']?.schema ?? {}
      t.not(type, 'array', `${method} ${path}`)
      // A search whose body may ask for metadata.
      for (const schema of anyOf) t.match(schema.$ref, /Page$/, `${method} ${path}`)
    }
  }
})

test('headers, 304 and 429 are documented', async t => {
  const { responses } = document.components
  for (const { path, method, operation } of operations) {
    for (const [status, response] of Object.entries<any>(operation.responses)) {
      const { headers } = response.$ref ? responses[response.$ref.split('/').at(-1)] : response
      t.ok(headers['X-RateLimit-Remaining'], `${status} of ${method} ${path}`)
    }
    t.ok(operation.responses[429], `${method} ${path}`)
    const { 200: success } = operation.responses
    const schema = success?.content?.['application/json']?.schema
    // An export is a stream, whose digest is not known before it is sent.
    if (method === 'get' && schema && !path.endsWith('-export')) {
      t.ok(operation.responses[304], `304 of ${path}`)
      t.ok(success.headers.ETag, `ETag of ${path}`)
    }
    if (/Page$/.test(schema?.$ref ?? '')) t.ok(success.headers.Link, `Link of ${path}`)
  }
  t.ok(responses.TooManyRequests.headers['Retry-After'])
})

test('event streams have payload schemas', async t => {
  for (const [path, payload] of Object.entries({
    '/api/v1/events/stream': 'EntityMessage',
    '/api/v1/tasks/stream': 'TaskMessage',
    '/api/v1/scans/stream': 'ScanMessage',
  })) {
    const { content } = document.paths[path].get.responses[200]
    const { contentSchema } = content['text/event-stream'].schema
    t.same(contentSchema.anyOf, [reference(payload), reference('ResyncMessage')])
  }
})

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const parameter = (path: string, name: string) =>
  document.paths[path].get.parameters.find((p: any) => p.name === name)

test('the command prints the document without a database, byte for byte the same', async t => {
  const { stackroom } = await commandLine(t)
  const [json, yaml] = await Promise.all([
    stackroom.plain(['openapi']),
    stackroom.plain(['openapi', '--format', 'yaml', '--output', '-']),
  ])
  t.equal(json.code, 0)
  const printed = JSON.parse(json.stdout)
  t.match(printed, { openapi: '3.1.0', info: { version } })
  // As this process makes it.
  t.ok(json.stdout === `${JSON.stringify(openapiDocument(resources, version), null, 2)}\n`)
  // YAML 1.1 has more words and numbers that text must not look like.
  t.ok(isDeepStrictEqual(parse(yaml.stdout, { version: '1.1' }), printed))
  t.notMatch(json.stdout, '\\\\p{', 'patterns are portable')
})

test('a reader that closes the pipe early ends the command without a message', async t => {
  const launcher = join(import.meta.dirname, '..', '..', 'cmd', 'stackroom.mjs')
  const child = spawn(process.execPath, [launcher, 'openapi'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // More than the pipe holds is still to be written.
  child.stdout.once('data', () => child.stdout.destroy())
  const [message, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  t.same({ message, code }, { message: '', code: 0 })
})
