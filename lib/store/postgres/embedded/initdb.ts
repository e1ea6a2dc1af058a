// Runs initdb, even for a user id missing from the user database, which initdb refuses but the server
// accepts.
import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Invalid } from '../../../base/errors.ts'
import { isDiskFull } from '../connection-error.ts'
import { withoutPostgresVariables } from '../environment.ts'
import type { Binaries } from './binaries.ts'
import { missingLibraryMessage } from './missing-library.ts'
import {
  type Command,
  effectiveIds,
  findListedId,
  type OsUser,
  programPath,
  runAs,
  runInNamespace,
} from './os-user.ts'

const withoutUser = /could not look up effective user ID/

/** Runs initdb; `path` is the prefix of temporary files. Throws Invalid. */
export async function runInitdb(
  args: string[],
  { binaries, user, path }: { binaries: Binaries; user: OsUser; path: string },
): Promise<void> {
  const program = programPath(binaries.native, 'initdb')
  const env = { ...withoutPostgresVariables(), ...binaries.env, LC_ALL: 'C' }
  const direct = runAs(user, program, args)
  const { status, stderr } = await run(direct, env)
  if (status === 0) return
  if (!withoutUser.test(stderr)) throw failure(stderr, path)
  const listedId = findListedId()
  if (listedId !== null) {
    const mapped = await run(runInNamespace(listedId, program, args), env)
    if (mapped.status === 0) return
    if (mapped.status !== null && !/^unshare: /m.test(mapped.stderr))
      throw failure(mapped.stderr, path)
  }
  const wrapped = await runWithNssWrapper(direct, { user, path, env })
  if (wrapped.status === 0) return
  const { uid } = effectiveIds(user)
  throw withoutUser.test(wrapped.stderr)
    ? new Invalid(
        `The bundled PostgreSQL cannot be set up as user id ${uid}, which has no entry in /etc/passwd: add one, ` +
          'install the package libnss-wrapper, or set database.url to use an external PostgreSQL server',
      )
    : failure(wrapped.stderr, path)
}

/** The library, if the loader finds it, adds the user to the user database that the program sees. */
async function runWithNssWrapper(
  command: Command,
  { user, path, env }: { user: OsUser; path: string; env: NodeJS.ProcessEnv },
) {
  const { uid, gid } = effectiveIds(user)
  const [users, groups] = [`${path}.passwd`, `${path}.group`]
  try {
    writeFileSync(users, `stackroom:x:${uid}:${gid}:::/bin/false\n`, { mode: 0o644 })
    writeFileSync(groups, `stackroom:x:${gid}:\n`, { mode: 0o644 })
    return await run(command, {
      ...env,
      LD_PRELOAD: [env.LD_PRELOAD, 'libnss_wrapper.so'].filter(Boolean).join(':'),
      NSS_WRAPPER_PASSWD: users,
      NSS_WRAPPER_GROUP: groups,
    })
  } finally {
    rmSync(users, { force: true })
    rmSync(groups, { force: true })
  }
}

function failure(stderr: string, path: string): Invalid {
  if (isDiskFull({ code: 'initdb', message: stderr }))
    return new Invalid(
      `${dirname(path)} has no space for a database: free some space, or choose another data_dir`,
    )
  return new Invalid(
    missingLibraryMessage(stderr) ?? `PostgreSQL could not create its files: ${stderr.trim()}`,
  )
}

async function run({ file, args, options }: Command, env: NodeJS.ProcessEnv) {
  const child = spawn(file, args, {
    ...options,
    // initdb fails in a working directory that its user cannot access.
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr?.on('data', chunk => {
    stderr = (stderr + chunk).slice(-4000)
  })
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).catch(cause => {
    // `unshare`, which creates namespaces, may not be installed.
    if (file === 'unshare') return null
    throw new Invalid('PostgreSQL cannot be started (is glibc installed?)', { cause })
  })
  return { status, stderr }
}
