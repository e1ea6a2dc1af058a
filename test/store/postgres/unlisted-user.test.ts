// Bundled PostgreSQL of a user id without an entry in /etc/passwd, as in containers started with `--user 4242`.
import { spawnSync } from 'node:child_process'
import { chownSync } from 'node:fs'
import t, { type Test } from 'tap'
import { projectRoot } from '../../kit/db.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'

const uid = 4242
const user = { uid, gid: uid, cwd: projectRoot, encoding: 'utf8' } as const
const moduleUrl = (path: string) => JSON.stringify(new URL(`../../../lib/${path}`, import.meta.url))
const node = (code: string, env: NodeJS.ProcessEnv) =>
  spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    ...user,
    env: { LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH, ...env },
  })

/** Starts a new database twice, as a process without `HOME`; what it prints and how it ends. */
function startTwice(t: Test, path = process.env.PATH) {
  const dataDir = temporaryFolder(t)
  chownSync(dataDir, uid, uid)
  return node(
    `import { startPostgres } from ${moduleUrl('store/postgres/embedded/embedded.ts')}
    import { connect } from ${moduleUrl('store/postgres/db.ts')}
    for (const statement of ['create table book as select 1 as n', 'table book']) {
      const server = await startPostgres({ dataDir: ${JSON.stringify(dataDir)} })
      const sql = connect(server.url, { max: 1 })
      console.log(JSON.stringify(await sql.unsafe(statement)))
      await sql.end()
      await server.stop()
    }`,
    { PATH: path },
  )
}

const isRoot = process.getuid?.() === 0
const canRead = `await import(${moduleUrl('base/errors.ts')}); console.log('read')`
const cannotTry = !isRoot
  ? 'only root can start a process of another user'
  : node(canRead, {}).stdout !== 'read\n' && 'the user cannot read this checkout'
const unshare = ['-U', '--map-user=1', '--map-group=1', 'true']
const hasNamespaces = !cannotTry && spawnSync('unshare', unshare, user).status === 0
// The loader warns about a library that it does not find.
const preload = { ...process.env, LD_PRELOAD: 'libnss_wrapper.so' }
const hasWrapper = spawnSync('true', { env: preload }).stderr?.length === 0

t.test(
  'a user id without an entry starts the database in a user namespace',
  { skip: cannotTry || (!hasNamespaces && 'user namespaces are not available') },
  async t => {
    const { stdout, stderr } = startTwice(t)
    t.equal(stdout, '[]\n[{"n":1}]\n', stderr)
  },
)

t.test(
  'without namespaces it takes libnss_wrapper',
  { skip: cannotTry || (!hasWrapper && 'libnss-wrapper is not installed') },
  async t => {
    const { stdout, stderr } = startTwice(t, '/nowhere')
    t.equal(stdout, '[]\n[{"n":1}]\n', stderr)
  },
)

t.test(
  'with neither, the error names the user id and what helps',
  { skip: cannotTry || (hasWrapper && 'libnss-wrapper is installed') },
  async t => {
    const { stderr, status } = startTwice(t, '/nowhere')
    t.not(status, 0)
    t.match(stderr, /as user id 4242, which has no entry in \/etc\/passwd: add one/)
    t.match(stderr, /libnss-wrapper, or set database\.url/)
  },
)
