// Boundary values of a JSON Schema: values that it allows and values that it forbids, confirmed by Ajv.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Json } from './operation.ts'

type Schemas = Record<string, Json>

export type SchemaValues = ReturnType<typeof createSchemaValues>

const uuids = [
  '00000000-0000-7000-8000-00000000dead',
  '0193A4C2-7B1E-7C3A-9F52-6D8E0B4A1C77',
  '0193a4c2-7b1e-7c3a-9f52-6d8e0b4a1c77',
]
const texts = [
  'a',
  'Ä 百 💥',
  'en',
  '1.5',
  'a.b',
  'https://example.org/x',
  'someone@example.org',
  'Strong-pass-1!',
  '2030-05-01T12:00:00Z',
  '2030-05-01T12:00:00.123456+02:00',
  '2016-12-31T23:59:60Z',
  '2024-05-01',
  '/media/x',
  'x/y',
  ' a ',
  '',
  ' ',
]
const wrongTexts = ['\u0000', 'no such value', '-', '%', 'x@', 'ftp://x', '2024-13-01', 'a\u0000b']
/** One value of every JSON type. */
const anyValues = [null, true, -1, 0.5, 'text', [], {}, [1], { unknown: 1 }]
const maxDepth = 5

/** `schemas` are the components that references name. */
export function createSchemaValues(schemas: Schemas) {
  const ajv = new Ajv2020({ strict: false, code: { optimize: false } })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  ajv.addSchema({ $id: 'doc', components: { schemas } })
  const resolve = (schema: Json): Json =>
    typeof schema.$ref === 'string' ? schemas[schema.$ref.split('/').at(-1)!]! : schema

  const checkers = new Map<string, (value: unknown) => boolean>()
  const checkersOf = new WeakMap<Json, (value: unknown) => boolean>()
  /** Whether the schema allows a value. */
  function checkerOf(schema: Json): (value: unknown) => boolean {
    const known = checkersOf.get(schema)
    if (known) return known
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"doc#/components/')
    const check =
      checkers.get(text) ?? (ajv.compile(JSON.parse(text)) as (value: unknown) => boolean)
    checkers.set(text, check)
    checkersOf.set(schema, check)
    return check
  }

  // By depth.
  const candidatesOf = new WeakMap<Json, unknown[][]>()
  /** Candidates around the boundaries, the first one preferably valid. */
  function candidates(reference: Json, depth = 0): unknown[] {
    const schema = resolve(reference)
    const known = candidatesOf.get(schema) ?? []
    candidatesOf.set(schema, known)
    return (known[depth] ??= newCandidates(schema, depth))
  }

  function newCandidates(schema: Json, depth: number): unknown[] {
    const variants = (schema.anyOf ?? schema.oneOf) as Json[] | undefined
    if (variants && !schema.properties) return variants.flatMap(v => candidates(v, depth + 1))
    if (schema.enum) return [...(schema.enum as unknown[]), ...wordVariants(schema.enum as [])]
    if (schema.const !== undefined) return [schema.const]
    const types = [schema.type].flat()
    return types.flatMap(type => {
      if (type === 'string') return textCandidates(schema)
      if (type === 'integer' || type === 'number') return numberCandidates(schema, type)
      if (type === 'boolean') return [true, false, 'true', 1]
      if (type === 'array') return arrayCandidates(schema, depth)
      if (type === 'object') return objectCandidates(schema, depth)
      return type === 'null' ? [null] : ['a', 1, null, true, [1], { a: 1 }]
    })
  }

  function arrayCandidates(schema: Json, depth: number): unknown[] {
    if (depth > maxDepth) return [[]]
    const items = (schema.items ?? {}) as Json
    const isValid = checkerOf(items)
    const members = candidates(items, depth + 1)
    const first = members.find(isValid)
    const limit = Number(schema.maxItems ?? 0)
    return [
      [first],
      [],
      ...members.map(member => [member]),
      ...(limit > 0 && limit <= 1000
        ? [Array(limit).fill(first), Array(limit + 1).fill(first)]
        : []),
      first,
    ]
  }

  function objectCandidates(schema: Json, depth: number): unknown[] {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>)
    if (depth > maxDepth) return [{}]
    const valuesOf = new Map(properties.map(([name, s]) => [name, candidates(s, depth + 1)]))
    const firstOf = new Map(
      properties.map(([name, s]) => [name, valuesOf.get(name)!.find(checkerOf(s))]),
    )
    const base = Object.fromEntries(requiredNames(schema).map(name => [name, firstOf.get(name)]))
    const alone = schema.maxProperties === 1
    return [
      base,
      {},
      ...Object.keys(base).map(name => ({ ...base, [name]: undefined })),
      ...properties.flatMap(([name]) =>
        valuesOf
          .get(name)!
          .map(value => ({ ...(alone ? {} : without(base, name, schema)), [name]: value })),
      ),
      ...(alone
        ? []
        : [Object.fromEntries(canonicalNames(properties).map(n => [n, firstOf.get(n)]))]),
      { ...base, unknownMember: 1 },
      ...(properties.length > 0 ? [Object.values(base)] : [{ a: { b: [1] } }]),
    ]
  }

  return {
    /** Values that the schema allows and forbids, without duplicates. */
    of(schema: Json): { allowed: unknown[]; forbidden: unknown[] } {
      const isValid = checkerOf(schema)
      const unique = new Map(
        [...candidates(schema), ...anyValues].map(value => [JSON.stringify(value), value]),
      )
      const values = [...unique].map(([text]) => JSON.parse(text ?? 'null'))
      return {
        allowed: values.filter(value => isValid(value)),
        forbidden: values.filter(value => !isValid(value)),
      }
    },
    checkerOf,
  }
}

function requiredNames(schema: Json): string[] {
  const alternatives = ((schema.allOf ?? []) as { anyOf?: { required?: string[] }[] }[]).flatMap(
    part => part.anyOf?.[0]?.required ?? [],
  )
  return [...((schema.required ?? []) as string[]), ...alternatives]
}

/** The base without a property that `name` is another name of. */
function without(base: Json, name: string, schema: Json): Json {
  const own = ownName(name, schema.properties as Record<string, Json>)
  return Object.fromEntries(Object.entries(base).filter(([key]) => key !== own))
}

/** The property that this is another name of; null for a name of its own. */
function ownName(name: string, properties: Record<string, Json>): string | null {
  const [, own] = /^Same as `(\w+)`/.exec(String(properties[name]?.description)) ?? []
  const camelCase = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return own ?? (camelCase !== name && camelCase in properties ? camelCase : null)
}

/** Without alternative names: two names of one field must have the same value. */
function canonicalNames(properties: [string, Json][]): string[] {
  const byName = Object.fromEntries(properties)
  return Object.keys(byName).filter(name => ownName(name, byName) === null)
}

const wordVariants = (words: readonly unknown[]) =>
  words
    .slice(0, 5)
    .flatMap(word => (typeof word === 'string' ? [`${word}x`, word.toUpperCase(), ` ${word}`] : []))

function textCandidates(schema: Json): unknown[] {
  const max = Number(schema.maxLength ?? 0)
  const long =
    max > 0 && max <= 20_000 ? ['x'.repeat(max), 'x'.repeat(max + 1), '💥'.repeat(max)] : []
  const own = schema.format === 'uuid' ? uuids : []
  const examples = (schema.examples ?? []) as unknown[]
  return [...examples, ...own, ...texts, ...long, ...wrongTexts, 1, false]
}

function numberCandidates(schema: Json, type: string): unknown[] {
  const ends = [schema.minimum, schema.maximum].filter(end => end !== undefined).map(Number)
  const middle = ends.length === 2 ? [Math.floor((ends[0]! + ends[1]!) / 2)] : []
  return [
    ...middle,
    1,
    ...ends.flatMap(end => [end, end - 1, end + 1]),
    0,
    ...(type === 'number' ? [0.25, -0.5] : [1.5]),
    2 ** 40,
    '1',
    true,
  ]
}
