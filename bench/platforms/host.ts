// Host settings shared with clean roots: mirror of Debian, registry of npm, certificates, proxies.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export type HostOptions = { mirror?: string | undefined; registry?: string | undefined }
export type Host = ReturnType<typeof readHost>

const certificates = '/etc/ssl/certs/ca-certificates.crt'
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']

/** Runs a command and returns its standard output; an error quotes the end of what it printed. */
export function run(file: string, args: string[], options: { input?: string; cwd?: string } = {}) {
  try {
    return execFileSync(file, args, {
      ...options,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
      maxBuffer: 2 ** 26,
    })
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { [key: string]: string }
    const end = `${stdout}\n${stderr}`.trim().slice(-1_000) || message
    throw new Error(`${file} ${args.join(' ').slice(0, 200)}: ${end}`)
  }
}

export function readHost(options: HostOptions) {
  const setting = (name: string) => {
    const value = run('npm', ['config', 'get', name]).trim()
    return value === 'null' || value === 'undefined' ? null : value
  }
  const candidates = [setting('cafile'), process.env.NODE_EXTRA_CA_CERTS, process.env.SSL_CERT_FILE]
  return {
    mirror: options.mirror ?? null,
    registry: options.registry ?? setting('registry'),
    /** A file with certificates that this machine trusts. */
    authorities: [...candidates, certificates].find(file => file && existsSync(file)) ?? null,
  }
}

/** The mirror that apt of this machine uses. */
export function debianMirror({ mirror }: Host): string {
  if (mirror !== null) return mirror
  const format = ['--format', '$(SITE) $(COMPONENT)', 'Created-By: Packages']
  const targets = run('apt-get', ['indextargets', ...format]).split('\n')
  const [site] = targets.find(line => /\/debian\/? main$/.test(line))?.split(' ') ?? []
  if (site === undefined) throw new Error('apt has no mirror of Debian here; set --mirror')
  return site
}

/** Environment variables of a clean root, whose certificates are at the path that Debian uses. */
export function rootVariables({ registry, authorities }: Host): Record<string, string> {
  const used = proxies.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : []))
  return {
    ...Object.fromEntries(used),
    ...(registry ? { npm_config_registry: registry } : {}),
    ...(authorities ? { npm_config_cafile: certificates, NODE_EXTRA_CA_CERTS: certificates } : {}),
  }
}

/** A new folder below `work` that is removed at the latest when this process exits. */
export function temporaryFolder(work: string): string {
  const folder = mkdtempSync(join(work, 'run-'))
  chmodSync(folder, 0o755)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export { certificates as rootCertificates }

/** Creates the folder; throws if another account owns it, because programs are run from there. */
export function openWorkFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const stats = lstatSync(folder)
  if (!stats.isDirectory() || (process.getuid && stats.uid !== process.getuid()))
    throw new Error(`${folder} belongs to another account; set --work`)
  return folder
}
