// Lists of networks in configuration.
import { BlockList, isIP } from 'node:net'

/** Addresses and networks separated by commas or spaces. Throws on invalid ones. */
export function networkList(text: string): BlockList {
  const networks = new BlockList()
  for (const network of text.split(/[\s,]+/).filter(part => part !== '')) {
    const [address = '', prefix, ...rest] = network.split('/')
    const version = isIP(address)
    const bits = prefix === undefined ? (version === 4 ? 32 : 128) : Number(prefix)
    if (
      version === 0 ||
      address.includes('%') ||
      rest.length > 0 ||
      !/^\d{1,3}$/.test(prefix ?? '0')
    )
      throw new RangeError(`${network} is not an address or network`)
    networks.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6')
  }
  return networks
}

/** What is wrong with a list of networks, for users; null when it is valid. */
export function networksProblem(text: string): string | null {
  try {
    networkList(text)
    return null
  } catch {
    return 'use addresses and networks such as 192.168.1.10 or 10.0.0.0/8, separated by commas'
  }
}
