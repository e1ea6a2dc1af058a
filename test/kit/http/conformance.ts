// Conformance of API responses with the OpenAPI document.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Operation } from './operation.ts'

type Json = Record<string, any>

type Received = { status: number; type: string; text: string }
type Check = (operation: Operation, response: Received) => string | null

// Compiling the schemas of all operations takes some seconds.
const checks = new WeakMap<Json, Check>()

/** Returns a function that describes how a response violates its operation; null if it does not. */
export function createConformanceCheck(document: Json): Check {
  const check = checks.get(document) ?? newConformanceCheck(document)
  checks.set(document, check)
  return check
}

function newConformanceCheck(document: Json): Check {
  const ajv = new Ajv2020({ strict: false, allErrors: false, code: { optimize: false } })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  ajv.addSchema({ $id: 'doc', components: document.components })
  // Compiled when first needed: a test uses few of the operations.
  const validators = new Map<string, ValidateFunction>()

  return (operation, { status, type, text }) => {
    if (status >= 500) return `${status}: ${text.slice(0, 300)}`
    if (status === 304 || status === 204) return text === '' ? null : `${status} with a body`
    const documented = operation.responses[status]
    if (/^text\/(plain|html)\b/.test(type) && !documented?.content?.[type.split(';')[0]!])
      return `${type}: ${text.slice(0, 200)}`
    if (!documented)
      return status === 405 ? null : `undocumented status ${status}: ${text.slice(0, 200)}`
    if (!documented.content) return text === '' ? null : `undocumented body: ${text.slice(0, 100)}`
    const mediaType = type.split(';')[0]!
    if (!documented.content[mediaType]) return `undocumented media type ${type} for ${status}`
    if (mediaType !== 'application/json') return null
    const key = `${operation.operationId} ${status}`
    let validate = validators.get(key)
    if (!validate) {
      validate = ajv.compile(withDocumentRefs(documented.content[mediaType]!.schema as Json))
      validators.set(key, validate)
    }
    if (validate(JSON.parse(text))) return null
    return `${status} violates its schema: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`
  }
}

const withDocumentRefs = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"doc#/components/'))
