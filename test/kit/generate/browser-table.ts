// The table of operations and their place in the browser: docs/browser.md, for `npm run docs`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../db.ts'
import { callers, operations } from '../web/operations.ts'

/** Reasons by the id of the operation. */
export function apiOnly(): Map<string, string> {
  const text = readFileSync(join(projectRoot, 'test', 'web', 'api-only.tsv'), 'utf8')
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.flatMap(line => {
      const [reason = '', ids = ''] = line.split('\t')
      return ids.split(' ').map(id => [id, reason] as const)
    }),
  )
}

const introduction = `# Operations and the browser

Which operations of the REST API the web application uses, and where: the modules below \`lib/web/app\` that call them. Written by \`npm run docs\`; <!-- promise: browser-operations -->
a test compares it with the code, and wants a reason for each operation that the application does not call. The protocols of reading apps (OPDS, KOReader, the Komga-compatible API) are not part of it.

| operation | what it does | in the browser |
|---|---|---|
`

export function browserTable(): string {
  const called = callers()
  const reasons = apiOnly()
  const rows = operations.map(({ id, method, path, summary }) => {
    const modules = called.get(id) ?? []
    const place =
      modules.length > 0
        ? modules.map(module => `\`${module.replace(/\.tsx?$/, '')}\``).join(', ')
        : `– (${reasons.get(id) ?? ''})`
    return `| \`${method} ${path.replace(/^\/api\/v1/, '')}\` | ${summary} | ${place} |\n`
  })
  return introduction + rows.join('')
}

if (import.meta.main) writeFileSync(join(projectRoot, 'docs', 'browser.md'), browserTable())
