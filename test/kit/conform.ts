// Whether an answer is what the OpenAPI document promises for its operation.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Operation } from './operation.ts'

type Json = Record<string, any>

/** A function that says what is wrong with an answer; null when nothing is. */
export function conformance(document: Json) {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  ajv.addSchema({ $id: 'doc', components: document.components })
  const known = new Map<string, ReturnType<Ajv2020['compile']>>()

  return (
    operation: Operation,
    answer: { status: number; type: string; text: string },
  ): string | null => {
    const { status, type, text } = answer
    if (status >= 500) return `${status}: ${text.slice(0, 300)}`
    if (status === 304 || status === 204) return text === '' ? null : `${status} with a body`
    const promised = operation.responses[status]
    if (/^text\/(plain|html)\b/.test(type) && !promised?.content?.[type.split(';')[0]!])
      return `${type}: ${text.slice(0, 200)}`
    if (!promised)
      return status === 405 ? null : `undocumented status ${status}: ${text.slice(0, 200)}`
    if (!promised.content)
      return text === '' ? null : `content where none is promised: ${text.slice(0, 100)}`
    const media = type.split(';')[0]!
    if (!promised.content[media]) return `undocumented media type ${type} for ${status}`
    if (media !== 'application/json') return null
    const key = `${operation.operationId} ${status}`
    let check = known.get(key)
    if (!check) {
      check = ajv.compile(local(promised.content[media]!.schema as Json))
      known.set(key, check)
    }
    if (check(JSON.parse(text))) return null
    return `${status} breaks its schema: ${ajv.errorsText(check.errors)} in ${text.slice(0, 300)}`
  }
}

const local = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"doc#/components/'))
