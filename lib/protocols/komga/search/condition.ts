// Parser of Komga's search conditions: from the JSON tree of a request to a condition of the list engine. Errors name
// the path of the offending node. The cost is linear in the size of the tree.

import { Invalid } from '../../../base/errors.ts'
import { type Condition, predicatesOf } from '../../../list/condition.ts'
import { maxConditionDepth, maxConditionNodes } from '../../../list/fields.ts'
import { allOfParts, anyOfParts, everything, type Part } from './condition-tree.ts'
import { bookKeys, type KeyContext, type Keys, seriesKeys } from './keys.ts'

/** Nodes of a request; the nodes of the resulting condition are limited as in the native grammar. */
const maxNodes = 5_000
// Used in error messages.
const maxNameLength = 50

/** What a tree selects. `condition` is null if it does not restrict. */
export type ParsedCondition = {
  condition: Part
  /** The tree names missing books, or series with only such books: these are then listed too. */
  includeDeleted: boolean
}

/** Throws Invalid. */
export function parseSeriesCondition(tree: unknown, context: KeyContext): ParsedCondition {
  return parse(tree, seriesKeys, context)
}

/** Like `parseSeriesCondition`, for books. Throws Invalid. */
export function parseBookCondition(tree: unknown, context: KeyContext): ParsedCondition {
  return parse(tree, bookKeys, context)
}

function parse(tree: unknown, keys: Keys, context: KeyContext): ParsedCondition {
  const state = { keys, context, nodeCount: 0, includeDeleted: false }
  if (tree === undefined || tree === null) return { condition: null, includeDeleted: false }
  const condition = parseNode(state, tree, { path: 'condition', depth: 1 })
  return { condition, includeDeleted: state.includeDeleted }
}

/** The resulting condition for the list engine, within its limits. Throws Invalid. */
export function checked({ condition, includeDeleted }: ParsedCondition): Condition | null {
  if (condition === null) return null
  if (predicatesOf(condition).length > maxConditionNodes)
    throw new Invalid(`condition has more than ${maxConditionNodes} parts`)
  const left = includeDeleted ? condition : withoutMissing(condition)
  return isEverything(left) ? null : left
}

const isEverything = (condition: Condition) => 'all' in condition && condition.all.length === 0

/** Missing rows are listed only if the condition names them; without them, "not deleted" always holds. */
function withoutMissing(condition: Condition): Condition {
  if ('all' in condition) return allOfParts(condition.all.map(withoutMissing)) ?? everything
  if ('any' in condition)
    return condition.any.length === 0 ? condition : anyOfParts(condition.any.map(withoutMissing))!
  return condition.field === 'isMissing' ? everything : condition
}

type ParserState = {
  keys: Keys
  context: KeyContext
  nodeCount: number
  includeDeleted: boolean
}

function parseNode(
  state: ParserState,
  node: unknown,
  { path, depth }: { path: string; depth: number },
): Part {
  if (depth > maxConditionDepth)
    throw new Invalid(`${path} is nested more than ${maxConditionDepth} levels deep`)
  if (++state.nodeCount > maxNodes) throw new Invalid(`condition has more than ${maxNodes} parts`)
  if (!isObject(node)) throw new Invalid(`${path} must be an object`)
  const name = deducedName(state, node, path)
  if (name === null) return null
  const value = node[name]
  const valuePath = `${path}.${name}`
  if (name === 'allOf' || name === 'anyOf') {
    if (!Array.isArray(value)) throw new Invalid(`${valuePath} must be an array of conditions`)
    const parts = value.map((part, i) =>
      parseNode(state, part, { path: `${valuePath}[${i}]`, depth: depth + 1 }),
    )
    return name === 'allOf' ? allOfParts(parts) : anyOfParts(parts)
  }
  if (!isObject(value)) throw new Invalid(`${valuePath} must be an object with an operator`)
  const { operator, ...operands } = value
  if (typeof operator !== 'string') throw new Invalid(`${valuePath}.operator must be a string`)
  if (name === 'deleted' && operator === 'isTrue') state.includeDeleted = true
  return state.keys[name]!({ operator, operands, path: valuePath }, state.context)
}

/**
 * The member that determines the type of the node. Others are ignored, as in Komga (JsonTypeInfo DEDUCTION): some
 * clients send a `type` in each node.
 */
function deducedName({ keys }: ParserState, node: object, path: string): string | null {
  const names = Object.keys(node)
  const [name, second] = names.filter(
    name => name === 'allOf' || name === 'anyOf' || Object.hasOwn(keys, name),
  )
  if (second !== undefined)
    throw new Invalid(`${path} must have exactly one of allOf, anyOf and the fields`)
  if (name !== undefined) return name
  if (names.length === 0) return null
  throw new Invalid(
    `${path}.${names[0]!.slice(0, maxNameLength)} is not a field; fields are ${Object.keys(keys).join(', ')}`,
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
