// Guard against server-side request forgery: which URLs and addresses sources may connect to. The address that is
// connected to is the one checked, so that a second DNS answer cannot differ from the first.
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { networkList } from '../../base/networks.ts'
import { SourceFailure } from '../failure.ts'

// Not public by the IANA special-purpose registries; 192.88.99.0/24 relays into IPv6.
const privateIPv4 = (
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 ' +
  '198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
).split(' ')
// Global unicast; everything else is private, local, or an IPv4 address in another form (mapped, NAT64).
const globalIPv6 = networkList('2000::/3')
// Teredo and other protocols, documentation, 6to4, AS112.
const specialIPv6 = networkList('2001::/23 2001:db8::/32 2002::/16 3fff::/20 2620:4f:8000::/48')
const specialIPv4 = networkList(privateIPv4.join(' '))

/** Whether the address is public. `address` must be in the system's notation. */
function isPublic(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !specialIPv4.check(address, 'ipv4')
  return (
    version === 6 &&
    !address.includes('%') &&
    globalIPv6.check(address, 'ipv6') &&
    !specialIPv6.check(address, 'ipv6')
  )
}

export type Guard = {
  /** Throws SourceFailure for a URL that must not be requested. */
  checkUrl(url: URL): void
  /** For `net.connect`: fails if any address of the host is not allowed. */
  lookup: LookupFunction
}

export type LookupAll = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const systemLookupAll: LookupAll = (hostname, callback) =>
  systemLookup(hostname, { all: true }, callback)

type GuardOptions = {
  /** Networks that are allowed although not public, read on each use; null for none. */
  allowedNetworks: () => string | null
  /** Replaced in tests. */
  resolve?: LookupAll | undefined
}

export function createGuard({ allowedNetworks, resolve = systemLookupAll }: GuardOptions): Guard {
  let latest = { text: '', networks: networkList('') }
  const allowed = () => {
    const text = allowedNetworks() ?? ''
    if (latest.text !== text) latest = { text, networks: networkList(text) }
    return latest.networks
  }
  const isAllowed = (address: string) => {
    const version = isIP(address)
    if (version === 0 || address.includes('%')) return false
    // BlockList also compares mapped addresses with IPv4 networks.
    const isMapped =
      version === 6 && !globalIPv6.check(address, 'ipv6') && /^::ffff:/i.test(address)
    if (isMapped) return false
    return isPublic(address) || allowed().check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
  return {
    checkUrl(url) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:')
        throw new SourceFailure('Only http and https URLs are allowed', 'refused')
      if (url.username !== '' || url.password !== '')
        throw new SourceFailure('URLs with a user name or password are not allowed', 'refused')
      const address = url.hostname.replace(/^\[(.*)\]$/, '$1')
      // `lookup` is not called for a literal address.
      if (isIP(address) !== 0 && !isAllowed(address)) throw refused(url.hostname)
    },
    lookup(hostname, options, callback) {
      resolve(hostname, (error, addresses) => {
        const usable = addresses?.filter(
          ({ family }) => !options.family || family === options.family,
        )
        if (error) callback(error, '')
        else if (addresses.some(({ address }) => !isAllowed(address)))
          callback(refused(hostname), '')
        else if (!usable?.length) callback(new Error('no address'), '')
        else if (options.all) callback(null, usable)
        else callback(null, usable[0]!.address, usable[0]!.family)
      })
    },
  }
}

const refused = (host: string) =>
  new SourceFailure(
    `${host} has an address in a private network that is not listed in source.allowed_networks`,
    'refused',
  )
