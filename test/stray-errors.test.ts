// Uncaught errors of tests: every one fails a test of the process.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { folderWithFiles } from './kit/files/folders.ts'

const file = `
import t from 'tap'
const pause = () => new Promise(resolve => setTimeout(resolve, 20))
t.test('rejection', async t => {
  Promise.reject(new Error('never handled'))
  await pause()
})
t.test('exception', async t => {
  setTimeout(() => { throw new Error('never caught') })
  await pause()
})
t.test('afterwards', async t => {
  t.pass('continues')
})
`

t.test('uncaught errors and rejections fail the test that is running', async t => {
  const folder = folderWithFiles(t, { 'stray.test.ts': Buffer.from(file) })
  const run = join(import.meta.dirname, 'kit', 'suite', 'run.ts')
  const { status, stdout } = spawnSync(process.execPath, [run, join(folder, 'stray.test.ts')], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  })
  t.equal(status, 1)
  for (const failure of ['never handled', 'never caught'])
    t.match(stdout, new RegExp(`not ok \\d+ - ${failure}`))
  t.match(stdout, /^ {8}ok 1 - continues/m)
})
