// Request values as Komga reads them: unknown parameters are ignored; lists may be repeated, separated by commas, or
// bracketed; enumeration names may be in any case; invalid numbers count as absent.
import type { FastifySchemaCompiler } from 'fastify'
import { list, maybe, type TSchema, Type } from '../../../../base/schema.ts'
import { compileValidator } from '../../../../http/validate.ts'

type Property = {
  type?: string | string[]
  enum?: readonly unknown[]
  items?: Property
  /** One parameter may contain several values, separated by commas. */
  hasCommas?: true
  /** Invalid text counts as absent. */
  isLenient?: true
  anyOf?: Property[]
}

const maxListItems = 1000

/** A query parameter with several values. Without `hasCommas`, a comma is part of a value. */
export const listParameter = <T extends TSchema>(item: T, { hasCommas = true } = {}) =>
  maybe(list(item, { maxItems: maxListItems, ...(hasCommas ? { hasCommas } : {}) }))

/** A number in a query; other text counts as absent, as Komga does for pages. */
export const lenientInteger = () => maybe(Type.Integer({ isLenient: true }))

/** Validator compiler of the compatible API. */
export const compileLenientValidator: FastifySchemaCompiler<TSchema> = route => {
  const validate = compileValidator(route)
  if (route.httpPart !== 'querystring') return validate
  const { properties = {} } = route.schema as { properties?: Record<string, Property> }
  return (input: unknown) => validate(readParameters(properties, input as object))
}

function readParameters(properties: Record<string, Property>, input: object) {
  const values = new Map<string, unknown[]>()
  for (const [key, value] of Object.entries(input)) {
    const name = key.replace(/\[\d*\]$/, '')
    if (!Object.hasOwn(properties, name)) continue
    values.set(name, [...(values.get(name) ?? []), ...[value].flat()])
  }
  return Object.fromEntries(
    [...values].flatMap(([name, all]) => {
      const value = readParameter(properties[name]!, all)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function readParameter(property: Property, values: unknown[]): unknown {
  const texts = values.map(String)
  if (property.type === 'array') {
    const items =
      property.hasCommas && texts.length === 1 ? texts[0]!.split(',').map(s => s.trim()) : texts
    const read = items.filter(item => item !== '').map(item => readScalar(property.items!, item))
    return read.length === 0 ? undefined : [read]
  }
  const text = texts.at(-1)!
  return text === '' ? undefined : readScalar(property, text)
}

function readScalar(property: Property, text: string): unknown {
  const { type, enum: values, isLenient } = property
  if (values) {
    const folded = text.toLowerCase()
    return values.find(value => String(value).toLowerCase() === folded) ?? text
  }
  if (type === 'boolean') return booleans.get(text.toLowerCase()) ?? text
  if (type !== 'integer' && type !== 'number') return text
  const number = /^-?\d{1,20}(?:\.\d{1,20})?$/.test(text) ? Number(text) : Number.NaN
  if (type === 'number' ? !Number.isNaN(number) : Number.isSafeInteger(number)) return number
  return isLenient ? undefined : text
}

const booleans = new Map<string, boolean>([
  ...['true', '1', 'on', 'yes'].map(text => [text, true] as const),
  ...['false', '0', 'off', 'no'].map(text => [text, false] as const),
])
