// Device that sent a request: identified by what the client calls it, else by its API key or program.
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../accounts/identify.ts'
import {
  clientDevice,
  digestOf,
  maxDeviceIdLength,
  maxDeviceNameLength,
  printable,
  type ReadingDevice,
} from '../../reading/device.ts'

/** Headers with an id that a client assigns to its device. */
const idHeaders = ['x-device-id', 'x-codex-device-id']
const nameHeaders = ['x-device-name', 'x-codex-device-name']

/** `client` is the device as stated in the body; a header takes precedence. */
export function deviceOf(
  { headers }: Pick<FastifyRequest, 'headers'>,
  identity: Pick<Identity, 'keyId'>,
  client?: { id: string; name?: string | null },
): ReadingDevice {
  const header = (names: readonly string[]) => {
    const value = names.map(name => headers[name]).find(text => typeof text === 'string')
    return printable(value as string | undefined)
  }
  const id = header(idHeaders)
  const name = header(nameHeaders)
  const named = name === null ? null : name.slice(0, maxDeviceNameLength)
  if (id !== null && id.length <= maxDeviceIdLength) return { key: id, name: named }
  if (client) return clientDevice(client)
  if (identity.keyId !== null) return { key: `apikey:${identity.keyId}`, name: named }
  const agent = printable(headers['user-agent'])
  if (agent === null) return { key: 'legacy', name: named }
  return { key: `ua:${digestOf(agent)}`, name: named ?? programOf(agent) }
}

/** `Panels` from `Panels/2.1 (iPad)`; a browser's name comes later in the header. */
const programOf = (agent: string) =>
  (/(?:Firefox|Edg|OPR|Chrome|Safari)(?=\/)/.exec(agent)?.[0] ?? agent.split(/[\s/]/, 1)[0]!).slice(
    0,
    maxDeviceNameLength,
  )
