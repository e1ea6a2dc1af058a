// Component schemas of Komga's OpenAPI document: whether a body conforms to one, with null for optional members.
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { leaveOut, sharedPath } from './shared.ts'

type Json = Record<string, unknown>
const file = 'spec/komga-openapi.json'
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
let isLoaded = false

/** The differences, none also where the document is not there. `name[]` is an array of that component. */
export function differences(name: string, body: unknown): string[] {
  const path = sharedPath(file)
  if (path === null) {
    leaveOut(file)
    return []
  }
  if (!isLoaded) {
    const { components } = JSON.parse(readFileSync(path, 'utf8')) as { components: Json }
    ajv.addSchema({ $id: 'komga', components: withNulls(components) })
    isLoaded = true
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
