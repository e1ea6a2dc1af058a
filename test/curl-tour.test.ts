// The commands with curl of docs/api.md and docs/reading-apps.md, as they are written, against a server with a library
// of one book.
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { temporaryFolder } from './kit/files/folders.ts'
import { comic, createTestLibrary } from './kit/library.ts'
import { startApi } from './kit/server.ts'
import { leaveOutWithout } from './kit/shared.ts'

const documents = join(import.meta.dirname, '..', 'docs')
const commands = ['api.md', 'reading-apps.md'].flatMap(name => {
  const text = readFileSync(join(documents, name), 'utf8')
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!)
})

t.test('the commands with curl work as they are written', async t => {
  if (spawnSync('curl', ['--version']).error) return leaveOutWithout('curl', 7)
  const all = await startApi(t)
  const shelf = await createTestLibrary(t, all, { 'Saga/Saga 1.cbz': comic({ pages: 4 }) })
  await shelf.scan()
  const { id } = await shelf.book('Saga 1.cbz')
  const script = commands
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', all.base)
    .replace(/BOOK=…/, `BOOK=${id}`)
    .replaceAll('LIBRARY_ID', shelf.id)
    // Without the function below: the job that is killed is curl itself.
    .replace(/curl (-sN .*) &$/m, 'env curl $1 >stream &')
  const folder = temporaryFolder(t)
  const failing = 'set -eo pipefail; curl() { command curl --fail "$@"; echo; }\n'
  const end =
    '\nfor _ in {1..400}; do grep -q scan_progress stream && break; sleep 0.05; done; kill %1\n'
  const { stdout: printed } = await promisify(execFile)('bash', ['-c', failing + script + end], {
    cwd: folder,
    timeout: 120_000,
  })
  t.match(printed, /"total":1/)
  t.match(printed, /"title":"Saga 1"/, 'found by its title')
  t.match(readFileSync(join(folder, 'page-1')).toString('latin1'), /^\x89PNG/)
  t.match(readFileSync(join(folder, 'page-1.webp')).toString('latin1'), /^RIFF....WEBP/s)
  t.match(printed, /"currentPage":3/)
  t.match(printed, /"name":"tablet"/, 'an API key')
  t.match(printed, /"key":"komga.enabled","value":"true"/)
  t.match(readFileSync(join(folder, 'stream'), 'utf8'), /scan_progress/)
})
