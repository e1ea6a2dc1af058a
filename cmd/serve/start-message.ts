// What `serve` states once it listens: its addresses, the pending setup and where its data are. A block in plain
// words on a terminal; elsewhere one line each for address and setup token, and the other facts in the log.
import { type AddressInfo, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { type Log, logsToTerminal } from '../../lib/base/log.ts'
import type { Config } from '../../lib/store/config/config.ts'

export type Listening = {
  /** For browsers on this machine. */
  url: string
  /** For other machines; empty if only this one can reach it. */
  networkUrls: string[]
  isLocal: boolean
}

type Start = Listening & { config: Config; setupToken: string | null }

const isPersonal = () => process.stdout.isTTY === true

/** From the address of the socket: Fastify names only one of those that 0.0.0.0 stands for. */
export function listeningAt({ address, port }: AddressInfo): Listening {
  const url = (host: string) => `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
  if (/^127\.|^::1$/.test(address)) return { url: url(address), networkUrls: [], isLocal: true }
  if (address !== '0.0.0.0' && address !== '::')
    return { url: url(address), networkUrls: [url(address)], isLocal: false }
  const networkUrls = Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => url(address))
  return { url: url(address === '::' ? '::1' : '127.0.0.1'), networkUrls, isLocal: false }
}

/** The first lines, which do not wait for the database. */
export function printListening({ url, isLocal }: Listening) {
  print(`Stackroom is listening on ${url}`)
  if (isLocal && !isPersonal())
    print('Only this machine can reach it; use --host 0.0.0.0 to serve the network')
}

export function printStart(start: Start, log: Log) {
  const { url, networkUrls, isLocal, config, setupToken } = start
  if (isPersonal()) print(startBlock(start))
  else if (setupToken) print(tokenLine(setupToken))
  if (isPersonal() && logsToTerminal) return
  log.info(
    {
      ...{ url, networkUrls, isLocal },
      publicUrl: config.application.public_url,
      isSetupPending: setupToken !== null,
      dataDirectory: resolve(config.data_dir),
      database: config.database.url === null ? 'bundled' : 'external',
    },
    'server started',
  )
}

/** The page on which the application begins; a pending setup takes its token from the fragment, which no proxy sees. */
export function firstPage({ url, networkUrls, config, setupToken }: Start): string {
  const base = config.application.public_url?.replace(/\/+$/, '') ?? networkUrls[0] ?? url
  return setupToken && config.web.enabled ? `${base}/setup#token=${setupToken}` : `${base}/`
}

function startBlock(start: Start): string {
  const { config, setupToken } = start
  const parts: [string, ...string[]][] = [
    ['Network', ...networkLines(start)],
    ...(setupToken === null ? [] : [['Setup', ...setupLines(start, setupToken)] as [string]]),
    ['Data', dataLine(config)],
    ['Stop', 'Ctrl-C'],
  ]
  return parts
    .flatMap(([name, ...lines]) => lines.map((line, i) => `  ${(i ? '' : name).padEnd(9)}${line}`))
    .join('\n')
}

function networkLines({ isLocal, networkUrls, config }: Start): string[] {
  const publicUrl = config.application.public_url
  if (publicUrl) return [`Other machines reach it at ${publicUrl}`]
  if (isLocal) return ['Only this machine can reach it; --host 0.0.0.0 opens it to other machines.']
  if (networkUrls.length === 0) return ['This machine has no address in a network.']
  return networkUrls.map((url, i) => (i === 0 ? `Other machines reach it at ${url}` : `or ${url}`))
}

function setupLines(start: Start, setupToken: string): string[] {
  if (!start.config.web.enabled) return [tokenLine(setupToken)]
  return [
    firstPage(start),
    'Open this address in a browser to create the administrator. It works once.',
  ]
}

function dataLine({ data_dir, database }: Config): string {
  const folder = resolve(data_dir)
  return database.url === null
    ? `${folder} (database, covers, keys)`
    : `${folder} (covers, keys) and an external PostgreSQL`
}

const tokenLine = (token: string) =>
  `Setup token (single use, to create the first administrator): ${token}`

function print(text: string) {
  process.stdout.write(`${text}\n`)
}
