// Names in the OpenAPI document, as client generators derive them: one thing for each.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'

type Schema = Record<string, any>

const document = openapiDocument(resources, '1.2.3') as Schema
const components = Object.entries<Schema>(document.components.schemas)
const operations = Object.values<Schema>(document.paths).flatMap(methods =>
  Object.values<Schema>(methods),
)

/** What is left of a name in the case and punctuation of any language. */
const folded = (name: unknown) =>
  String(name)
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]/gu, '')

function repeated<T>(values: readonly T[], keyOf: (value: T) => string): T[][] {
  const groups = Map.groupBy(values, keyOf)
  return [...groups.values()].filter(group => group.length > 1)
}

const schemasOf = (value: unknown): Schema[] =>
  typeof value === 'object' && value !== null
    ? [value as Schema, ...Object.values(value).flatMap(schemasOf)]
    : []

test('the values of an enumeration differ by letters or digits, and have one type', async t => {
  const enums = schemasOf(document).flatMap(({ enum: values }) =>
    Array.isArray(values) ? [values.filter(value => value !== null)] : [],
  )
  t.ok(enums.length > 100)
  for (const values of enums) {
    t.same(repeated(values, folded), [], `of ${values.slice(0, 5).join(', ')}`)
    t.equal(new Set(values.map(value => typeof value)).size, 1, values.slice(0, 5).join(', '))
    t.notOk(values.map(folded).includes(''), 'a value without letters has no name')
  }
})

test('components and operations are distinct in any case', async t => {
  t.same(
    repeated(
      components.map(([name]) => name),
      folded,
    ),
    [],
  )
  t.same(
    repeated(
      operations.map(({ operationId }) => operationId),
      folded,
    ),
    [],
  )
  for (const [name] of components) {
    t.match(name, /^(?:[A-Z][a-z0-9]+)+$/)
    t.notOk(name in globalThis, `${name} is no built-in type of JavaScript`)
    t.notOk(typesOfLanguages.includes(name), `${name} is no type of a common language`)
  }
})

// Java, Kotlin, C#, Swift, Python and TypeScript have them without an import.
const typesOfLanguages = [
  ...['Any', 'Bool', 'Byte', 'Char', 'Character', 'Class', 'Comparable', 'Decimal', 'Dict'],
  ...['Double', 'Enum', 'Exception', 'Float', 'Int', 'Integer', 'Iterable', 'List', 'Long'],
  ...['None', 'Optional', 'Package', 'Partial', 'Pick', 'Record', 'Result', 'Runtime', 'Self'],
  ...['Short', 'Thread', 'Throwable', 'Tuple', 'Type', 'Unit', 'Void'],
]

// A schema without a name of its own is named after its property and the schema around it.
test('schemas without a name differ in the name that generators give them', async t => {
  const named: { name: string; schema: string }[] = components.map(([name, schema]) => ({
    name,
    schema: JSON.stringify(schema.enum ?? name),
  }))
  const pascal = (name: string) =>
    name.replaceAll(/(?:^|[^A-Za-z\d]+)([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
  const visit = (schema: Schema, name: string, isNamed = false) => {
    // Equal enumerations are one; each object is a model of its own.
    const isObject = schema.type === 'object' || schema.properties !== undefined
    if (!isNamed && (isObject || schema.enum))
      named.push({ name, schema: JSON.stringify(schema.enum ?? named.length) })
    for (const [key, property] of Object.entries<Schema>(schema.properties ?? {}))
      visit(property, `${name}${pascal(key)}`)
    for (const [i, variant] of (schema.anyOf ?? []).entries()) visit(variant, `${name}Type${i}`)
    if (schema.items) visit(schema.items, `${name}Item`)
    if (typeof schema.additionalProperties === 'object')
      visit(schema.additionalProperties, `${name}AdditionalProperty`)
  }
  for (const [name, schema] of components) visit(schema, name, true)
  for (const { operationId, parameters = [] } of operations)
    for (const { name, schema } of parameters) visit(schema, pascal(`${operationId}_${name}`))
  t.same(
    repeated(named, ({ name }) => folded(name)).filter(
      group => new Set(group.map(({ schema }) => schema)).size > 1,
    ),
    [],
  )
})

// typescript-fetch makes an empty type of a union of plain values, which accepts anything but is sent as text `[object Object]`.
test('no parameter is a union', async t => {
  const unions = operations.flatMap(({ operationId, parameters = [] }) =>
    parameters.flatMap(({ name, schema }: Schema) =>
      schema.anyOf || schema.oneOf ? [`${operationId} ${name}`] : [],
    ),
  )
  t.same(unions, [])
})

test('no component is named as one of its fields', async t => {
  // Functions that make one have a variable of that name; it changes its type unless the field is a text.
  const isOwnField = ([name, { properties }]: (typeof components)[number]) =>
    Object.entries<Schema>(properties ?? {}).some(
      ([field, { type }]) => folded(field) === folded(name) && type !== 'string',
    )
  t.same(
    components.filter(isOwnField).map(([name]) => name),
    [],
  )
})

test('fields and parameters are distinct in any case', async t => {
  const fields = schemasOf(document).map(({ properties }) => Object.keys(properties ?? {}))
  const parameters = operations.map(operation =>
    (operation.parameters ?? []).map(({ name }: Schema) => name),
  )
  t.same(
    [...fields, ...parameters].flatMap(names => repeated<string>(names, folded)),
    [],
  )
})

test('texts do not end the comment in which generators put them', async t => {
  const texts = schemasOf(document).flatMap(schema => Object.values(schema))
  t.same(
    texts.filter(text => typeof text === 'string' && /\*\/|"""/.test(text)),
    [],
  )
})
