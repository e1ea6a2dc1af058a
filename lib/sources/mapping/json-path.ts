// JSON paths: a subset of RFC 9535 without scripts. The number of visited values is limited.
//
//   path     := '$' {selector}
//   selector := '.' name | '.*' | '[' ('*' | integer | quoted | filter) ']'
//   filter   := '?@.' name {'.' name} ('==' | '!=') (quoted | number | true | false | null)
import { Invalid } from '../../base/errors.ts'

type Filter = { path: string[]; isEqual: boolean; value: unknown }
type Selector =
  | { kind: 'name'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'all' }
  | ({ kind: 'filter' } & Filter)

/** All values at the path, in document order. */
export type JsonPath = (document: unknown) => unknown[]

export const maxPathLength = 300
const maxValues = 20_000

const quoted = String.raw`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`
const name = String.raw`[\p{L}_][\p{L}\p{N}_-]*`
const selector = new RegExp(
  String.raw`\.(${name}|\*)|\[(?:(\*)|(-?\d{1,6})|(${quoted})|\?\s*@((?:\.${name})+)\s*(==|!=)\s*(${quoted}|-?\d+(?:\.\d+)?|true|false|null)\s*)\]`,
  'uy',
)

/** `label` is for error messages. Throws Invalid. */
export function compilePath(source: string, label: string): JsonPath {
  const selectors: Selector[] = []
  const isPath = source.startsWith('$') && source.length <= maxPathLength
  for (selector.lastIndex = 1; isPath && selector.lastIndex < source.length; ) {
    const at = selector.lastIndex
    const match = selector.exec(source)
    if (!match) throw new Invalid(`${label} is not a JSON path at character ${at + 1}`)
    selectors.push(toSelector(match))
  }
  if (!isPath) throw new Invalid(`${label} must be a JSON path such as $.data[0].title`)
  return document => selectors.reduce(select, [document])
}

function toSelector(match: RegExpExecArray): Selector {
  const [, dotted, star, index, text, filtered, operator, value] = match
  if (dotted === '*' || star) return { kind: 'all' }
  if (dotted !== undefined) return { kind: 'name', name: dotted }
  if (index !== undefined) return { kind: 'index', index: Number(index) }
  if (text !== undefined) return { kind: 'name', name: unquote(text) }
  return {
    kind: 'filter',
    path: filtered!.slice(1).split('.'),
    isEqual: operator === '==',
    value: /^['"]/.test(value!) ? unquote(value!) : JSON.parse(value!),
  }
}

const unquote = (text: string) => text.slice(1, -1).replace(/\\(.)/g, '$1')

function select(values: unknown[], selector: Selector): unknown[] {
  const found: unknown[] = []
  for (const value of values) {
    for (const child of childrenOf(value, selector)) {
      found.push(child)
      if (found.length >= maxValues) return found
    }
  }
  return found
}

function childrenOf(value: unknown, selector: Selector): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  switch (selector.kind) {
    case 'name':
      return !Array.isArray(value) && Object.hasOwn(value, selector.name)
        ? [(value as Record<string, unknown>)[selector.name]]
        : []
    case 'index': {
      if (!Array.isArray(value)) return []
      const child = value.at(selector.index)
      return child === undefined ? [] : [child]
    }
    case 'all':
      return Object.values(value)
    case 'filter':
      return Object.values(value).filter(
        child => (memberAt(child, selector.path) === selector.value) === selector.isEqual,
      )
  }
}

function memberAt(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string, unknown>)[key]
        : undefined,
    value,
  )
}
