// Component schemas of Komga's OpenAPI document: whether a body conforms to one, with null for optional members.
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { leaveOut, sharedPath } from './shared.ts'

type Json = Record<string, unknown>
const file = 'spec/komga-openapi.json'
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
let isLoaded = false

type Operation = {
  responses?: Record<string, { content?: Record<string, { schema?: Json }> }>
}
type Document = { paths: Record<string, Record<string, Operation>>; components: Json }

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Document

/** Methods and paths of the document, with `{}` for parameters, and the schema of a success; null without it. */
export function komgaOperations(): Map<string, Json | null> | null {
  const path = sharedPath(file)
  if (path === null) {
    leaveOut(file)
    return null
  }
  const operations = Object.entries(read(path).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => typeof operation === 'object')
      .map(([method, { responses = {} }]) => {
        const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
        const schema = success?.content?.['application/json']?.schema ?? null
        return [`${method.toUpperCase()} ${anonymous(path)}`, schema] as const
      }),
  )
  return new Map(operations)
}

/** A path with `{}` for each parameter. */
export const anonymous = (path: string): string => path.replace(/\{[^}]+\}|\*$/g, '{}')

/** The differences from the schema of an operation; none without one. */
export function operationDifferences(schema: Json | null | undefined, body: unknown): string[] {
  if (!schema || !load()) return []
  const relative = JSON.parse(
    JSON.stringify(withNulls(schema)).replaceAll('"#/components', '"komga#/components'),
  )
  const validate = ajv.compile(relative)
  if (validate(body)) return []
  return (validate.errors ?? []).map(error => `${error.instancePath} ${error.message}`)
}

/** Whether the document is there. */
function load(): boolean {
  const path = sharedPath(file)
  if (path === null) return false
  if (!isLoaded) ajv.addSchema({ $id: 'komga', components: withNulls(read(path).components) })
  isLoaded = true
  return true
}

/** The differences, none also where the document is not there. `name[]` is an array of that component. */
export function differences(name: string, body: unknown): string[] {
  if (!load()) {
    leaveOut(file)
    return []
  }
  const reference = { $ref: `komga#/components/schemas/${name.replace('[]', '')}` }
  const validate = ajv.compile(
    name.endsWith('[]') ? { type: 'array', items: reference } : reference,
  )
  if (validate(body)) return []
  return (validate.errors ?? []).map(error => `${error.instancePath} ${error.message}`)
}

/** Members that are not required may be null. */
function withNulls(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNulls)
  if (typeof schema !== 'object' || schema === null) return schema
  const {
    properties,
    required = [],
    ...others
  } = schema as { properties?: Json; required?: string[] }
  const copied = Object.fromEntries(
    Object.entries(others).map(([key, value]) => [key, withNulls(value)]),
  )
  if (!properties || Array.isArray(properties))
    return {
      ...copied,
      ...(properties ? { properties } : {}),
      ...(required.length > 0 ? { required } : {}),
    }
  const members = Object.entries(properties).map(([name, member]) => {
    const own = withNulls(member)
    return [name, required.includes(name) ? own : { anyOf: [own, { type: 'null' }] }]
  })
  return {
    ...copied,
    properties: Object.fromEntries(members),
    ...(required.length > 0 ? { required } : {}),
  }
}
