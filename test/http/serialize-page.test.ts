// Pages encoded record by record: the same JSON as of the whole page.
import { deepStrictEqual as same } from 'node:assert/strict'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import fc from 'fast-check'
import t from 'tap'
import { list, maybe, nullable, record, Type } from '../../lib/base/schema.ts'
import { compileSerializer } from '../../lib/http/json/serialize.ts'

const item = record({ name: Type.String(), size: nullable(Type.Number()) })
const compileWhole = SerializerSelector()()
const route = (schema: object) => ({ schema, method: 'GET', url: '/', httpStatus: '200' }) as never
const anyItem = fc.record({
  name: fc.string({ unit: 'binary', maxLength: 300 }),
  size: fc.option(fc.integer()),
})

t.test('a page without other members, or with an optional list', async t => {
  const only = compileSerializer(route(record({ data: list(item) })))
  const page = { data: [{ name: 'a', size: 1 }] }
  t.same(JSON.parse(String(only(page))), page)
  const optional = compileSerializer(route(record({ data: maybe(list(item)) })))
  t.same(JSON.parse(String(optional({}))), {})
})

for (const name of ['data', 'content'])
  t.test(`a page with its records in \`${name}\` is encoded like a whole`, async t => {
    const schema = record({ [name]: list(item), total: Type.Integer(), last: Type.Boolean() })
    const serialize = compileSerializer(route(schema)) as unknown as (body: unknown) => Buffer
    const whole = compileWhole(route(schema)) as (body: unknown) => string
    const page = fc.record({ [name]: fc.array(anyItem), total: fc.nat(), last: fc.boolean() })
    fc.assert(
      fc.property(page, page => {
        const bytes = serialize(page)
        same(Buffer.isBuffer(bytes), true)
        same(JSON.parse(bytes.toString()), JSON.parse(Buffer.from(whole(page)).toString()))
      }),
    )
    const names = ['', 'x'.repeat(100_000), 'ж'.repeat(100_000), '😀'.repeat(100_000), '']
    const items = names.map(name => ({ name, size: null }))
    const long = { [name]: items, total: 5, last: true }
    t.same(JSON.parse(serialize(long).toString()), long, 'records longer than the first')
    t.throws(() => serialize({ total: 1, last: true }), 'records are missing')
  })
