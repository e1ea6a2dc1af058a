// One-line faults of a source file, derived from its syntax tree: plausible programming mistakes.
import ts from 'typescript'

export type Fault = {
  kind: string
  line: number
  /** Replaces the characters from `start` to `end`. */
  start: number
  end: number
  text: string
}
type Change = Pick<Fault, 'kind' | 'start' | 'end' | 'text'>
/** Types of columns by table. */
export type Columns = Map<string, Map<string, string>>

const k = ts.SyntaxKind
const operators = new Map<ts.SyntaxKind, string>([
  [k.AmpersandAmpersandToken, '||'],
  [k.BarBarToken, '&&'],
  [k.LessThanToken, '<='],
  [k.LessThanEqualsToken, '<'],
  [k.GreaterThanToken, '>='],
  [k.GreaterThanEqualsToken, '>'],
  [k.EqualsEqualsEqualsToken, '!=='],
  [k.ExclamationEqualsEqualsToken, '==='],
  [k.PlusToken, '-'],
  [k.MinusToken, '+'],
])
/** Words of SQL that turn a condition or an order around. */
const sqlWords: [pattern: RegExp, text: string][] = [
  [/\band\b/g, 'or'],
  [/\bis not null\b/g, 'is null'],
  [/\bis null\b/g, 'is not null'],
  [/(?<=\s)<(?=\s)/g, '<='],
  [/(?<=\s)>(?=\s)/g, '>='],
  [/\bdesc\b/g, 'asc'],
  [/\bnot exists\b/g, 'exists'],
  [/\bleft join\b/g, 'join'],
]

/** All faults of a file, in the order of the file. */
export function faultsOf(source: string, columns: Columns): Fault[] {
  const file = ts.createSourceFile('m.ts', source, ts.ScriptTarget.Latest, true)
  const found: Fault[] = []
  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return
    for (const change of changesAt(node, file, columns)) {
      const { line } = file.getLineAndCharacterOfPosition(change.start)
      found.push({ ...change, line: line + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function changesAt(node: ts.Node, file: ts.SourceFile, columns: Columns): Change[] {
  const replace = (kind: string, at: ts.Node, text: string): Change => ({
    ...{ kind, text },
    ...{ start: at.getStart(file), end: at.getEnd() },
  })
  if (ts.isIfStatement(node)) return ifChanges(node, file, replace)
  if (ts.isConditionalExpression(node))
    return [replace('condition', node.condition, negated(node.condition, file))]
  if (ts.isBinaryExpression(node)) {
    const text = operators.get(node.operatorToken.kind)
    const isText = [node.left, node.right].some(side => ts.isStringLiteralLike(side))
    const isSum = node.operatorToken.kind === k.PlusToken && isText
    return text === undefined || isSum ? [] : [replace('operator', node.operatorToken, text)]
  }
  if (ts.isNumericLiteral(node)) return numberChanges(node, replace)
  if (node.kind === k.TrueKeyword) return [replace('boolean', node, 'false')]
  if (node.kind === k.FalseKeyword) return [replace('boolean', node, 'true')]
  if (ts.isExpressionStatement(node)) return statementChanges(node, replace)
  if (ts.isCallExpression(node)) return callChanges(node, file, replace)
  if (ts.isTaggedTemplateExpression(node)) return sqlChanges(node, file, columns)
  if (ts.isPropertyAssignment(node) && node.name.getText(file) === 'permission')
    return node.initializer.getText(file) === `'public'`
      ? []
      : [replace('permission', node.initializer, `'auth'`)]
  return []
}

type Replace = (kind: string, at: ts.Node, text: string) => Change

const negated = (node: ts.Expression, file: ts.SourceFile) => `!(${node.getText(file)})`

/** The other branch, and a guard that is not there. */
function ifChanges(node: ts.IfStatement, file: ts.SourceFile, replace: Replace): Change[] {
  const only =
    ts.isBlock(node.thenStatement) && node.thenStatement.statements.length === 1
      ? node.thenStatement.statements[0]!
      : node.thenStatement
  const isGuard =
    (ts.isThrowStatement(only) || ts.isReturnStatement(only)) && node.elseStatement === undefined
  const changes = [replace('condition', node.expression, negated(node.expression, file))]
  // After `else` a statement is needed.
  return isGuard ? [...changes, replace('check', node, ';')] : changes
}

/** Off by one where a number counts or delimits; limits and sizes are a matter of tuning. */
function numberChanges(node: ts.NumericLiteral, replace: Replace): Change[] {
  const value = Number(node.text)
  const parent = node.parent
  const isUsed = ts.isBinaryExpression(parent) || ts.isCallExpression(parent)
  const isIndex = ts.isElementAccessExpression(parent)
  if (!Number.isInteger(value) || value > 10 || !(isUsed || isIndex)) return []
  return [replace('off by one', node, String(value + 1))]
}

/** A call whose value is not used: without it, and without waiting for it. */
function statementChanges({ expression }: ts.ExpressionStatement, replace: Replace): Change[] {
  if (ts.isAwaitExpression(expression)) {
    const inner = expression.expression
    return [
      replace('await', expression, inner.getText()),
      ...(ts.isCallExpression(inner) ? [replace('call', expression, 'undefined')] : []),
    ]
  }
  return ts.isCallExpression(expression) ? [replace('call', expression, 'undefined')] : []
}

function callChanges(node: ts.CallExpression, file: ts.SourceFile, replace: Replace): Change[] {
  const [first, second] = node.arguments
  if (!first || !second || ![first, second].every(isPlain)) return []
  const [a, b] = [first.getText(file), second.getText(file)]
  if (a === b || a === 'sql') return []
  return [{ ...replace('arguments', first, `${b}, ${a}`), end: second.getEnd() }]
}

const isPlain = (node: ts.Expression) =>
  ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)

/** Another column, another connective. */
function sqlChanges(
  node: ts.TaggedTemplateExpression,
  file: ts.SourceFile,
  columns: Columns,
): Change[] {
  if (!/^(\w+\.)?sql(<|$)|^tx(<|$)/i.test(node.tag.getText(file))) return []
  const start = node.template.getStart(file)
  const text = node.template.getText(file)
  // Nested expressions are not SQL.
  const plain = text.replace(/\$\{[^}]*\}/g, nested => ' '.repeat(nested.length))
  const changes: Change[] = []
  const add = (kind: string, at: number, length: number, by: string) =>
    changes.push({ kind, start: start + at, end: start + at + length, text: by })
  for (const [pattern, by] of sqlWords)
    for (const match of plain.matchAll(pattern)) add('sql', match.index, match[0].length, by)
  const tables = [...columns].flatMap(([name, own]) =>
    new RegExp(`\\b(?:from|join|into|update) ${name}\\b`).test(plain) ? [own] : [],
  )
  for (const match of plain.matchAll(/(?<![\w"$.{])(?:\w+\.)?([a-z]+(?:_[a-z]+)*)(?![\w"(.])/g)) {
    const column = match[1]!
    const table = tables.find(own => own.has(column))
    const others = [...(table ?? [])].flatMap(([name, type]) =>
      name !== column && type === table!.get(column) ? [name] : [],
    )
    const at = match.index + match[0].length - column.length
    if (others.length > 0) add('column', at, column.length, others[match.index % others.length]!)
  }
  return changes
}

/** From the statements that create the tables. */
export function readColumns(schema: string): Columns {
  const tables = [...schema.matchAll(/^create table (\w+) \(\n(.*?)\n\)/gims)]
  return new Map(
    tables.map(([, table, body]) => {
      const rows = [...body!.matchAll(/^ {2}([a-z_]+)\s+([a-z]+(?:\[\])?)/gm)]
      return [table!, new Map(rows.map(([, name, type]) => [name!, type!]))]
    }),
  )
}
