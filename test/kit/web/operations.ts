// Which operations of the REST API the web application calls, and in which modules, from its source.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { resources } from '../../../lib/api/resources.ts'
import { endpoints } from '../../../lib/http/route.ts'
import { projectRoot } from '../db.ts'

const app = join(projectRoot, 'lib', 'web', 'app')

export type Operation = { id: string; method: string; path: string; summary: string }

/** Reading apps have protocols of their own. */
const isOfProtocol = (path: string) => /^\/(?:opds|koreader)\//.test(path)

export const operations: readonly Operation[] = resources.flatMap(route =>
  endpoints(route).flatMap(({ operationId: id, method, path }) =>
    id === null || isOfProtocol(path) || path === '/opds/v2'
      ? []
      : [{ id, method, path, summary: route.summary }],
  ),
)

type Call = { method: string; pattern: RegExp; module: string }

/** A path in quotes, and what it is an argument of. */
const literal = /(['`])(\/(?:\\.|(?!\1)[^\\])*)\1/g
const callee =
  /(?:\bapi\.(?<method>[A-Z]+)\((?:(?!\bapi\.|[;{}]).)*|\b(?<helper>useGet|useGetAll|mediaUrl|apiUrl|createStream|post|uploadFile)\((?:\{ path: )?(?:(?!\buseGet|[;{}]).)*)$/s
const methods: Record<string, string> = { post: 'POST', uploadFile: 'POST' }

function callsIn(module: string, source: string): Call[] {
  return [...source.matchAll(literal)].flatMap(({ index, 2: text = '' }) => {
    const before = source.slice(Math.max(0, index - 400), index).replace(/\$\{[^}]*\}/g, 'x')
    const { method, helper } = callee.exec(before)?.groups ?? {}
    const isFull = text.startsWith('/api/v1/')
    if (!isFull && helper === undefined) return []
    const called = method ?? (helper ? (methods[helper] ?? 'GET') : '*')
    return [{ method: called, pattern: patternOf(isFull ? text : `/api/v1${text}`), module }]
  })
}

/** Parts that are computed match any name; the kind of what has an id is never a library. */
function patternOf(path: string): RegExp {
  const [plain = ''] = path.split('?', 1)
  const source = plain
    .replace(/\$\{[^}]*\}|\{[^}]*\}/g, '\0')
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replace(/^(\/api\/v1\/)\0/, '$1(?!libraries)[^/]+')
    .replaceAll('\0', '[^/]+')
  return new RegExp(`^${source}$`)
}

/** Modules of the application by the id of the operation that they call. */
export function callers(): Map<string, string[]> {
  const modules = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter(
    file => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'),
  )
  const calls = modules.flatMap(file => callsIn(file, readFileSync(join(app, file), 'utf8')))
  const modulesOf = ({ method, path }: Operation) =>
    calls
      .filter(call => (call.method === '*' || call.method === method) && call.pattern.test(path))
      .map(call => call.module)
  return new Map(
    operations.map(operation => [operation.id, [...new Set(modulesOf(operation))].sort()]),
  )
}
