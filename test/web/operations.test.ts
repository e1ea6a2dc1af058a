// Every operation of the API has its place in the web application, or a reason why not; docs/browser.md lists both.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { projectRoot } from '../kit/db.ts'
import { apiOnly, browserTable } from '../kit/generate/browser-table.ts'
import { callers, operations } from '../kit/web/operations.ts'

test('operations are called by the application, or have a reason', t => {
  const called = callers()
  const reasons = apiOnly()
  const ids = new Set(operations.map(({ id }) => id))
  const without = operations.filter(({ id }) => called.get(id)!.length === 0 && !reasons.has(id))
  t.same(without, [], 'neither called nor with a reason')
  t.same(
    [...reasons.keys()].filter(id => !ids.has(id)),
    [],
    'no such operation',
  )
  t.same(
    [...reasons.keys()].filter(id => called.get(id)?.length),
    [],
    'called after all',
  )
  t.end()
})

test('the table in the documentation is up to date', t => {
  const text = readFileSync(join(projectRoot, 'docs', 'browser.md'), 'utf8')
  t.equal(text, browserTable(), 'npm run docs writes it')
  t.end()
})
