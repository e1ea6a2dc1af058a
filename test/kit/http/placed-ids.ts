// Requests of an operation with a marker in each place of an id: path, query, and body by its schema.
import type { Operation } from './operation.ts'
import type { SchemaValues } from './schema-values.ts'

/** Placeholder for the id, which identifies nothing. */
export const unknownId = '00000000-0000-7000-8000-00000000dead'

export type PlacedRequest = { method: string; path: string; body: string | null }
type Ids = (path: string, name: string) => readonly string[]

const maxBodies = 3
// Both names of a field are read in one place.
const otherName = /"\w+_ids?":/

/** `ids`: values of the other parameters of the path. */
export function* placedRequests(
  operation: Operation,
  { ids, values }: { ids: Ids; values: SchemaValues },
): Generator<PlacedRequest> {
  const { method, path, parameters } = operation
  const bodies = bodiesOf(operation, values)
  const isJson = operation.body !== null
  const plain = isJson ? (bodies.plain ?? '{}') : null
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)
  const filled = (marked: string | null) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === marked ? unknownId : encodeURIComponent(ids(path, name)[0] ?? 'x'),
    )
  for (const name of names.filter(name => /id$/i.test(name)))
    yield { method, path: filled(name), body: plain }
  for (const { name, schema } of parameters.filter(parameter => parameter.in === 'query'))
    if (JSON.stringify(schema).includes('"uuid"'))
      yield { method, path: `${filled(null)}?${name}=${unknownId}`, body: plain }
  for (const body of bodies.marked) yield { method, path: filled(null), body }
}

/** A body without an id, and those in which there is one. */
function bodiesOf({ body }: Operation, values: SchemaValues) {
  const texts = body === null ? [] : values.of(body).allowed.map(value => JSON.stringify(value))
  const isMarked = (text: string) => text.includes(unknownId)
  const marked = texts.filter(isMarked)
  const canonical = marked.filter(text => !otherName.test(text))
  return {
    plain: texts.find(text => text.startsWith('{') && !isMarked(text)),
    marked: (canonical.length > 0 ? canonical : marked).slice(0, maxBodies),
  }
}
