// Which operations of the API the web application calls, and in which modules, from its source.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { resources } from '../../../lib/api/resources.ts'
import { endpoints } from '../../../lib/http/route.ts'
import { projectRoot } from '../db.ts'

const app = join(projectRoot, 'lib', 'web')

export type Operation = { id: string; method: string; path: string; summary: string; tag: string }

/** All operations of the REST API in its OpenAPI document. */
export const operations: readonly Operation[] = resources.flatMap(route =>
  endpoints(route).flatMap(({ operationId, method, path }) =>
    operationId === null
      ? []
      : [{ id: operationId, method, path, summary: route.summary, tag: tagOf(path) }],
  ),
)

/** `/api/v1/books/{id}` → `books`. */
function tagOf(path: string): string {
  return path.replace(/^\/api\/v1/, '').split('/')[1] ?? ''
}

type Call = { method: string; pattern: RegExp; module: string }

const literal = /(['`])(\/(?:\\.|(?!\1)[^\\])*)\1/g

function callsIn(module: string, source: string): Call[] {
  const calls: Call[] = []
  const add = (method: string, text: string, prefix = '') =>
    calls.push({ method, pattern: patternOf(prefix + text), module })
  for (const { index, 0: whole, 2: text } of source.matchAll(literal)) {
    const before = source.slice(Math.max(0, index - 400), index)
    const call =
      /(?:\bapi\.([A-Z]+)|\b(useGet|useGetAll|mediaUrl|apiUrl|createStream))\((?:(?!\bapi\.|\buseGet|[;{}]).)*$/s.exec(
        before.replace(/\$\{[^}]*\}/g, 'x'),
      )
    if (whole === undefined || text === undefined) continue
    if (text.startsWith('/api/v1/')) add(call?.[1] ?? (call?.[2] ? 'GET' : '*'), text)
    else if (call?.[2] && !call[2].startsWith('useGet')) add('GET', text, '/api/v1')
  }
  return calls
}

function patternOf(path: string): RegExp {
  const [plain = ''] = path.split('?', 1)
  const source = plain
    .replace(/\$\{[^}]*\}/g, '\0')
    .replace(/\{[^}]*\}/g, '\0')
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replaceAll('\0', '[^/]+')
  return new RegExp(`^${source}$`)
}

/** Modules of the application by the id of the operation that they call. */
export function callers(): Map<string, string[]> {
  const modules = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter(
    file => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'),
  )
  const calls = modules.flatMap(file => callsIn(file, readFileSync(join(app, file), 'utf8')))
  return new Map(
    operations.map(({ id, method, path }) => [
      id,
      [
        ...new Set(
          calls
            .filter(
              call => (call.method === '*' || call.method === method) && call.pattern.test(path),
            )
            .map(call => call.module),
        ),
      ].sort(),
    ]),
  )
}
