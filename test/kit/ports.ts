// TCP ports for servers under test.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

// Below those that systems assign: another test that listens on any port does not get it in the meantime.
const ports = { from: 20_000, count: 10_000 }

/** A port of 127.0.0.1 that is not in use at the moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer()
    const isFree = once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.listen(ports.from + Math.floor(Math.random() * ports.count), '127.0.0.1')
    if (!(await isFree)) continue
    const { port } = server.address() as AddressInfo
    await new Promise(resolve => server.close(resolve))
    return port
  }
}
