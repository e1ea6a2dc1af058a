// Guard against server-side request forgery: spellings of private addresses, redirects, rebinding DNS. No request
// may arrive at the server that listens on the loopback addresses.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'tap'
import { networksProblem } from '../../../lib/base/networks.ts'
import { SourceFailure } from '../../../lib/sources/failure.ts'
import { createHttpClient, type HttpOptions } from '../../../lib/sources/http/client.ts'
import { failing } from '../failing.ts'

const signal = new AbortController().signal

test('no request leaves for a private address', async t => {
  let connections = 0
  const server = createServer((_, response) => response.end('secret'))
  server.on('connection', () => connections++)
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo

  const client = (options: Partial<HttpOptions> = {}) =>
    createHttpClient({ allowedNetworks: () => null, intervalMs: 0, ...options })
  const outcome = async (url: string, options?: Partial<HttpOptions>) => {
    const error = await client(options)
      .send({ url, signal })
      .catch((error: unknown) => error)
    return error instanceof SourceFailure ? error.kind : error
  }

  const spellings = [
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1'],
    ...[
      '017700000001',
      '127.0.0.1.',
      '127.000.000.001',
      '①②⑦.⓪.⓪.①',
      '１２７.０.０.１',
      '127。0。0。1',
    ],
    ...['%31%32%37.0.0.1', '127.255.255.254', '0.0.0.0', '0', '10.0.0.1', '10.1', '172.16.0.1'],
    ...['172.31.255.255', '192.168.0.1', '192.168.257', '169.254.169.254', '100.64.0.1'],
    ...['192.0.0.1', '192.88.99.1', '198.18.0.1', '203.0.113.9', '224.0.0.1', '240.0.0.1'],
    ...['255.255.255.255', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]'],
    ...['[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::a00:1]'],
    ...['[2002:7f00:1::]', '[2001:0:7f00:1::]', '[fe80::1]', '[fec0::1]', '[fc00::1]', '[fd12::1]'],
    ...['[ff02::1]', '[2001:db8::1]', '[100::1]', 'localhost', 'LOCALHOST.', 'localhost'],
  ]
  t.ok(spellings.length > 45)
  for (const host of spellings)
    t.equal(await outcome(`http://${host}:${port}/`, localResolver), 'refused', host)

  const others = [
    'ftp://example.org/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'data:text/plain,x',
  ]
  for (const url of others) t.equal(await outcome(url), 'refused', url)
  for (const url of [
    'http://[fe80::1%25lo]/',
    'http://',
    'http://a b/',
    `http://x/${'a'.repeat(9000)}`,
  ])
    t.equal(await outcome(url), 'refused', url)
  for (const url of [`http://user@203.0.113.1:${port}/`, `http://u:p@example.org:${port}/`])
    t.equal(await outcome(url), 'refused', url)

  t.test('names that resolve to private addresses, alone and beside public ones', async t => {
    const lists = [
      ['127.0.0.1'],
      ['93.184.216.34', '127.0.0.1'],
      ['::1'],
      ['::ffff:127.0.0.1'],
      ['fe80::1%lo'],
      ['2606:2800:220:1::1', 'fd00::1'],
    ]
    for (const addresses of lists)
      t.equal(
        await outcome(`http://books.example:${port}/`, { resolve: answering(() => addresses) }),
        'refused',
        addresses.join(),
      )
  })

  t.test('a name that resolves to another address the second time', async t => {
    let lookups = 0
    const resolve = answering(() => (lookups++ === 0 ? ['192.0.2.1'] : ['127.0.0.1']))
    // The second request resolves the name again, and that answer is checked.
    const rebinding = client({ resolve, limits: { connectMs: 300 } })
    for (const _ of [1, 2, 3])
      await t.rejects(
        rebinding.send({ url: `http://rebind.example:${port}/`, signal }),
        failing({ kind: 'refused' }),
      )
    t.equal(lookups, 3)
  })

  t.equal(connections, 0, 'nothing was connected to')

  t.test('redirects from an allowed host', async t => {
    let location = ''
    const allowed = createServer((_, response) => {
      response.writeHead(302, { location }).end()
    })
    allowed.listen(0, '127.0.0.2')
    await once(allowed, 'listening')
    t.teardown(() => allowed.close())
    const start = `http://127.0.0.2:${(allowed.address() as AddressInfo).port}/`
    const networks = { allowedNetworks: () => '127.0.0.2' }
    for (const target of ['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost']) {
      location = `http://${target}:${port}/`
      t.equal(await outcome(start, { ...networks, ...localResolver }), 'refused', target)
    }
    for (location of ['file:///etc/passwd', 'ftp://127.0.0.1/', `http://u:p@127.0.0.2/`])
      t.equal(await outcome(start, networks), 'refused', location)
    location = '/again'
    t.equal(await outcome(start, networks), 'status', 'an endless redirect ends')
    t.equal(connections, 0)
  })

  t.test('configuration allows networks', async t => {
    let networks: string | null = '10.0.0.0/8, 127.0.0.0/30'
    const configured = client({ allowedNetworks: () => networks, ...localResolver })
    for (const host of ['127.0.0.1', 'localhost', '2130706433']) {
      const { body } = await configured.send({ url: `http://${host}:${port}/`, signal })
      t.equal(body.toString(), 'secret', host)
    }
    t.equal(connections, 3)
    networks = null
    await t.rejects(
      configured.send({ url: `http://127.0.0.1:${port}/`, signal }),
      failing({ kind: 'refused' }),
    )
    t.equal(connections, 3, 'a change applies to the next request')
  })
})

test('networks are checked when they are configured', t => {
  for (const text of ['', '127.0.0.1', '10.0.0.0/8, fd00::/8', '::1 192.168.0.0/16'])
    t.equal(networksProblem(text), null, text)
  for (const text of [
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '1.2.3.4/8/8',
    'fe80::1%lo/64',
  ])
    t.type(networksProblem(text), 'string', text)
  t.end()
})

/** Resolver with these addresses. */
function answering(addresses: () => string[]) {
  return ((_, callback) => {
    callback(
      null,
      addresses().map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }) as NonNullable<HttpOptions['resolve']>
}

const localResolver = { resolve: answering(() => ['127.0.0.1']) }
