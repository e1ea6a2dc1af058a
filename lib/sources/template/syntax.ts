// Template syntax: from Handlebars text to a checked syntax tree. Only the Handlebars parser is loaded, never its
// compiler, which generates JavaScript from templates and has had injection advisories.
import { createRequire } from 'node:module'
import { Invalid } from '../../base/errors.ts'
import { lazy } from '../../base/lazy.ts'
import { blockHelpers, predicates, valueHelpers } from './helpers.ts'

export type Literal = {
  type: 'StringLiteral' | 'NumberLiteral' | 'BooleanLiteral' | 'UndefinedLiteral' | 'NullLiteral'
  value?: string | number | boolean
}
export type Path = {
  type: 'PathExpression'
  /** `@index` and the like. */
  data: boolean
  /** Number of `../`. */
  depth: number
  parts: string[]
  original: string
}
export type Call = { path: Path; params: Expression[]; hash?: { pairs: HashPair[] } }
type HashPair = { key: string; value: Expression }
export type Expression = Literal | Path | ({ type: 'SubExpression' } & Call)
export type Block = { type: 'BlockStatement'; program?: Program; inverse?: Program } & Call
export type Statement =
  | { type: 'ContentStatement'; value: string }
  | { type: 'CommentStatement' }
  | ({ type: 'MustacheStatement'; escaped: boolean; path: Path | Literal } & Omit<Call, 'path'>)
  | Block
export type Program = { body: Statement[]; blockParams?: string[] }

const require = createRequire(import.meta.url)
const handlebars = lazy<{ parse(source: string): Program }>(() =>
  require('handlebars/dist/cjs/handlebars/compiler/base.js'),
)

type Located = { type: string; loc?: { start: { line: number } } }

// Parsing takes quadratic time, about 30 ms for the longest template.
export const maxTemplateLength = 4_000
const maxDepth = 50

/** Throws Invalid with the reason; `name` is the field. */
export function parseTemplate(source: string, name: string): Program {
  // Counts characters like JSON Schema.
  if (source.length > maxTemplateLength && [...source].length > maxTemplateLength)
    throw new Invalid(`${name} is longer than ${maxTemplateLength} characters`)
  // The parser is slowest with blocks that are never closed.
  if (openBlocks(source) > maxDepth) throw new Invalid(`${name} is nested too deeply`)
  const program = parse(source, name)
  checkProgram(program, { name, depth: 0 })
  return program
}

/** How many blocks are open at the same time at most; `{{^}}` is an else and opens none. */
function openBlocks(source: string): number {
  let open = 0
  let most = 0
  for (const [, mark] of source.matchAll(/\{\{~?([#/]|\^(?!\s*~?\}))/g)) {
    open += mark === '/' ? -1 : 1
    most = Math.max(most, open)
  }
  return most
}

function parse(source: string, name: string): Program {
  try {
    return handlebars().parse(source)
  } catch (cause) {
    // Takes the first line, `Parse error on line 1:`; the rest quotes the template.
    const [reason = ''] = (cause instanceof Error ? cause.message : '').split('\n', 1)
    throw new Invalid(`${name} is not a valid template: ${reason.replace(/[:.]$/, '')}`, { cause })
  }
}

type Position = { name: string; depth: number }

function checkProgram({ body }: Program, { name, depth }: Position): void {
  const position = { name, depth: depth + 1 }
  if (position.depth > maxDepth) throw new Invalid(`${name} is nested too deeply`)
  for (const statement of body) checkStatement(statement, position)
}

function checkStatement(statement: Statement, position: Position): void {
  switch (statement.type) {
    case 'ContentStatement':
    case 'CommentStatement':
      return
    case 'MustacheStatement': {
      const { path } = statement
      if (isCall(statement)) checkCall({ ...statement, path: path as Path }, position)
      return
    }
    case 'BlockStatement': {
      const helper = statement.path.original
      if (!blockHelpers.has(helper) && !predicates.has(helper))
        fail(statement, `uses an unknown block helper ${quoted(helper)}`, position)
      checkParams(statement, position)
      if (statement.program) checkProgram(statement.program, position)
      if (statement.inverse) checkProgram(statement.inverse, position)
      return
    }
    default:
      fail(statement, 'uses a partial or a decorator', position)
  }
}

function checkCall(call: Call, position: Position): void {
  const helper = call.path.original
  if (!valueHelpers.has(helper) && !predicates.has(helper))
    fail(call.path, `uses an unknown helper ${quoted(helper)}`, position)
  checkParams(call, position)
}

function checkParams({ params, hash }: Call, { name, depth }: Position): void {
  if (depth >= maxDepth) throw new Invalid(`${name} is nested too deeply`)
  for (const expression of [...params, ...(hash?.pairs.map(({ value }) => value) ?? [])])
    if (expression.type === 'SubExpression') checkCall(expression, { name, depth: depth + 1 })
}

/** Whether `{{name …}}` calls a helper: it has arguments, or is named like a helper; `{{this.name}}` is a value. */
export function isCall({ path, params, hash }: Omit<Call, 'path'> & { path: Path | Literal }) {
  if (params.length > 0 || hash) return true
  return path.type === 'PathExpression' && !path.data && valueHelpers.has(path.original)
}

const quoted = (helper: unknown) => `"${String(helper).slice(0, 50)}"`

function fail(node: object, reason: string, { name }: Position): never {
  const line = (node as Located).loc?.start.line
  throw new Invalid(`${name} ${reason}${line === undefined ? '' : ` (line ${line})`}`)
}
