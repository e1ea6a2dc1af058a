// Report of failed assertions at the end of a CI log.
import t from 'tap'
import { formatFailures, readFailures } from './kit/failures.ts'

async function* lines(text: string) {
  yield* text.split('\n')
}

const log = `TAP version 14
# Subtest: api
    # Subtest: test/api/a.test.ts
        # Subtest: lists
            ok 1 - should be equal
            not ok 2 - in order
              ---
              diff: |
                --- expected
                +++ actual
                @@ -1,2 +1,9 @@
                 Array [
${Array.from({ length: 20 }, (_, i) => `                +  ${i},`).join('\n')}
                 ]
              at:
                fileName: test/api/a.test.ts
                lineNumber: 12
              source: |
                -  not a diff
              ...
            1..2
        not ok 1 - lists # time=4ms
          ---
          at:
            fileName: test/api/a.test.ts
            lineNumber: 5
          ...
        ok 2 - later # SKIP no browser
        not ok 3 - the connection was lost
          ---
          stack: |
            closed (node_modules/driver/index.js:4:6)
            Test.<anonymous> (test/api/a.test.ts:40:27)
          at:
            fileName: node_modules/driver/index.js
            lineNumber: 4
          code: CONNECTION_CLOSED
          ...
        1..3
    not ok 1 - test/api/a.test.ts # time=9ms
      ---
      ...
    1..1
not ok 1 - api # time=9ms
# Subtest: http
    # Subtest: test/http/b.test.ts
not ok 2 - http # time=9ms
  ---
  signal: SIGSEGV
  ...
1..2`

t.test('each failure has its names, its place and a short diff', async t => {
  t.same(formatFailures(await readFailures(lines(log))), [
    '✗ lists › in order',
    '    at test/api/a.test.ts:12',
    ...Array.from({ length: 15 }, (_, i) => `      +  ${i},`),
    '    … 5 more lines',
    '✗ the connection was lost',
    '    at test/api/a.test.ts:40',
    '    code: CONNECTION_CLOSED',
    '      closed (node_modules/driver/index.js:4:6)',
    '      Test.<anonymous> (test/api/a.test.ts:40:27)',
    '✗ http',
    '    at http',
    '    signal: SIGSEGV',
  ])
})

t.test('the report is short, however many assertions fail', async t => {
  const many = Array.from({ length: 500 }, (_, i) => `not ok ${i + 1} - case ${i}`).join('\n')
  const report = formatFailures(await readFailures(lines(many)))
  t.ok(report.length <= 81)
  t.match(report.at(-1), /^… and 460 more failures$/)
})
