// Templates: Handlebars texts rendered by walking their syntax tree, with limited output and a limited number of
// steps, so that a template's limit does not depend on a clock. Values are not escaped as HTML; missing values are
// empty. There are no partials, decorators or inherited properties.
import { chargeMembers, chargeText, createMeter, type Meter } from '../../base/meter.ts'
import {
  type Args,
  cut,
  isTruthy,
  maxTextLength,
  member,
  predicates,
  textOf,
  valueHelpers,
} from './helpers.ts'
import {
  type Block,
  type Call,
  type Expression,
  isCall,
  type Literal,
  type Path,
  type Program,
  parseTemplate,
  type Statement,
} from './syntax.ts'

/** Fills the template with the values of a context. Throws Invalid when it takes too many steps. */
export type Template = (context: unknown) => string

type Options = {
  /** Applied to the values inserted by `{{x}}`, except those of the helper `urlencode`; not to `{{{x}}}`. */
  escapeText?: (text: string) => string
}

/** `name` is the field for error messages. Throws Invalid with the reason. */
export function compileTemplate(source: string, name: string, options: Options = {}): Template {
  const program = parseTemplate(source, name)
  return context => {
    const run = createRun(name, options)
    renderProgram(run, program, { value: context, root: context, outer: null })
    return run.output()
  }
}

type Run = Meter & {
  escapeText: (text: string) => string
  write(text: string): void
  /** The output has reached its maximum length; the rest is cut off. */
  isFull(): boolean
  output(): string
}

function createRun(name: string, { escapeText = text => text }: Options): Run {
  const parts: string[] = []
  let length = 0
  return {
    ...createMeter(name),
    escapeText,
    write(text) {
      parts.push(text)
      length += text.length
    },
    isFull: () => length >= maxTextLength,
    output: () => cut(parts.join('')),
  }
}

/** `../` is the outer scope, `names` are block parameters, `data` is `@index` and the like. */
type Scope = {
  value: unknown
  root: unknown
  outer: Scope | null
  names?: ReadonlyMap<string, unknown>
  data?: ReadonlyMap<string, unknown>
}

function renderProgram(run: Run, { body }: Program, scope: Scope): void {
  for (const statement of body) {
    if (run.isFull()) return
    renderStatement(run, statement, scope)
  }
}

function renderStatement(run: Run, statement: Statement, scope: Scope): void {
  run.charge(1)
  if (statement.type === 'ContentStatement') run.write(statement.value)
  if (statement.type === 'BlockStatement')
    for (const [program, inner] of bodies(run, statement, scope)) renderProgram(run, program, inner)
  if (statement.type === 'MustacheStatement') {
    const { path, escaped } = statement
    const value = isCall(statement)
      ? call(run, statement as Call, scope)
      : evaluate(run, path, scope)
    const text = textOf(value, run)
    run.write(escaped && (path as Path).original !== 'urlencode' ? run.escapeText(text) : text)
  }
}

/** What a block renders: one of its branches, or the first branch for each item. */
function* bodies(run: Run, block: Block, scope: Scope): Generator<[Program, Scope]> {
  const { program = emptyProgram, inverse = emptyProgram } = block
  const name = block.path.original
  const args = evaluateArgs(run, block, scope)
  const [value] = args.values
  if (name === 'each') {
    const entries = entriesOf(value)
    chargeMembers(run, entries.length)
    for (const [i, entry] of entries.entries()) {
      run.charge(itemSteps)
      if (run.isFull()) return
      yield [program, itemScope(program, scope, { entry, i, count: entries.length })]
    }
    if (entries.length === 0) yield [inverse, scope]
  } else if (name === 'with') {
    const names = new Map([[program.blockParams?.[0] ?? '', value]])
    if (isTruthy(value) || value === 0)
      yield [program, { value, root: scope.root, outer: scope, names }]
    else yield [inverse, scope]
  } else {
    const isShown = predicates.get(name)?.(args) ?? isTruthy(value) === (name === 'if')
    yield [isShown ? program : inverse, scope]
  }
}
const emptyProgram: Program = { body: [] }
// Per scope of an item.
const itemSteps = 2

type Entry = [key: string | number, value: unknown]

function entriesOf(value: unknown): Entry[] {
  if (Array.isArray(value)) return [...value.entries()]
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

function itemScope(
  { blockParams: [itemName = '', keyName = ''] = [] }: Program,
  outer: Scope,
  { entry: [key, value], i, count }: { entry: Entry; i: number; count: number },
): Scope {
  const names = new Map([
    [itemName, value],
    [keyName, key],
  ])
  const data = new Map(Object.entries({ key, index: i, first: i === 0, last: i === count - 1 }))
  return { value, root: outer.root, outer, names, data }
}

function evaluate(run: Run, expression: Expression, scope: Scope): unknown {
  run.charge(1)
  switch (expression.type) {
    case 'PathExpression':
      return lookUp(run, expression, scope)
    case 'SubExpression':
      return call(run, expression, scope)
    default:
      return literalValue(expression)
  }
}

const literalValue = ({ type, value }: Literal) => (type === 'NullLiteral' ? null : value)

function call(run: Run, node: Call, scope: Scope): unknown {
  const args = evaluateArgs(run, node, scope)
  const name = node.path.original
  const result = (valueHelpers.get(name) ?? predicates.get(name))!(args)
  if (typeof result !== 'string') return result
  const text = cut(result)
  chargeText(run, text)
  return text
}

function evaluateArgs(run: Run, { params, hash }: Call, scope: Scope): Args {
  return {
    values: params.map(param => evaluate(run, param, scope)),
    named: Object.fromEntries(
      (hash?.pairs ?? []).map(({ key, value }) => [key, evaluate(run, value, scope)]),
    ),
    meter: run,
  }
}

function lookUp(run: Run, { data, depth, parts, original }: Path, scope: Scope): unknown {
  const [head, ...rest] = parts
  let from: Scope | null = scope
  for (let i = 0; i < depth && from; i++) from = from.outer
  if (!from) return undefined
  run.charge(depth + parts.length)
  if (data) {
    const value = head === 'root' ? scope.root : found(from, 'data', head)
    return rest.reduce(member, value)
  }
  // `this.name` is the value even if a block parameter has the same name.
  const isLocal = depth === 0 && head !== undefined && !/^(?:this\b|\.)/.test(original)
  const local = isLocal ? found(scope, 'names', head) : undefined
  if (local !== undefined) return rest.reduce(member, local)
  return parts.reduce(member, from.value)
}

/** The value in the innermost scope that has the name. */
function found(scope: Scope | null, kind: 'names' | 'data', name: string | undefined): unknown {
  if (name === undefined) return undefined
  for (let from = scope; from; from = from.outer)
    if (from[kind]?.has(name)) return from[kind].get(name)
  return undefined
}
