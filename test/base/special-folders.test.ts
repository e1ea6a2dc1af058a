// Special file systems that are mounted elsewhere, in a mount namespace of its own, which only root can make.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../kit/files/folders.ts'

const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-m', 'mount', '-t', 'mqueue', 'x', tmpdir()]).status === 0
const module = JSON.stringify(new URL('../../lib/base/special-folders.ts', import.meta.url))

t.test('a mounted special file system is recognized', { skip: !canMount }, async t => {
  const root = temporaryFolder(t)
  const places = ['queue of\ttwo', 'queue of', 'books'].map(name => join(root, name))
  for (const place of places) mkdirSync(place)
  const [special, similar, books] = places as [string, string, string]
  const code = `
    import { isSpecial } from ${module}
    const paths = ${JSON.stringify([special, join(special, 'a'), similar, books, root, '/dev/shm/a'])}
    console.log(JSON.stringify(paths.map(path => isSpecial(Buffer.from(path)))))`
  const script =
    'mount -t mqueue x "$1" && mount -t tmpfs x "$2" && exec "$3" --no-warnings --input-type=module -e "$4"'
  const argv = ['-m', 'sh', '-c', script, 'sh', special, books, process.execPath, code]
  const { stdout, stderr } = spawnSync('unshare', argv, { encoding: 'utf8' })
  t.same(JSON.parse(stdout || 'null'), [true, true, false, false, false, false], stderr)
})
