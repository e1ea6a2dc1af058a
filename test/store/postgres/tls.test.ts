// Encrypted connections to a real server: which certificates are accepted, and which host is chosen.
import { execFileSync } from 'node:child_process'
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../lib/store/config/config.ts'
import { connect, openDatabase } from '../../../lib/store/postgres/db.ts'
import { startPostgres } from '../../../lib/store/postgres/embedded/embedded.ts'
import { one } from '../../kit/db.ts'
import { preparedDataDirectory } from '../../kit/files/data-directory.ts'

const hasOpenssl = (() => {
  try {
    return execFileSync('openssl', ['version']).length > 0
  } catch {
    return false
  }
})()

/** An authority, and certificates of it for a server named localhost and the user of the database. */
function makeCertificates(folder: string) {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'ignore'] })
  const request = (name: string, subject: string, ...more: string[]) =>
    openssl(
      ...['req', '-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`],
      ...['-subj', `/CN=${subject}`, ...more],
    )
  for (const name of ['ca', 'other'])
    request(name, name, '-x509', '-days', '2', '-out', `${name}.crt`)
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\n')
  for (const [name, subject] of [
    ['server', 'localhost'],
    ['client', 'stackroom'],
  ] as const) {
    request(name, subject, '-out', `${name}.csr`)
    openssl(
      ...[
        'x509',
        '-req',
        '-in',
        `${name}.csr`,
        '-CA',
        'ca.crt',
        '-CAkey',
        'ca.key',
        '-CAcreateserial',
      ],
      ...['-days', '2', '-extfile', 'names', '-out', `${name}.crt`],
    )
  }
}

const freePort = () =>
  new Promise<number>(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

const options = { skip: hasOpenssl ? false : 'openssl is not there' }
t.test('certificates and hosts are chosen as the URL states', options, async t => {
  const folder = t.testdir()
  makeCertificates(folder)
  const dataDir = await preparedDataDirectory(t)
  const cluster = join(dataDir, 'postgres')
  const port = await freePort()
  const first = await startPostgres({ dataDir })
  const password = new URL(first.url).password
  const { uid, gid } = statSync(cluster)
  for (const name of ['server.key', 'server.crt', 'ca.crt']) {
    const text = readFileSync(join(folder, name))
    writeFileSync(join(cluster, name), text, { mode: 0o600 })
    chownSync(join(cluster, name), uid, gid)
  }
  const admin = connect(first.url, { max: 1 })
  const settings = {
    ssl: 'on',
    ssl_ca_file: 'ca.crt',
    listen_addresses: '127.0.0.1',
    port: `${port}`,
  }
  for (const [name, value] of Object.entries(settings))
    await admin.unsafe(`alter system set ${name} = '${value}'`)
  await admin.unsafe('create database certified')
  await admin.end()
  const rules = `local all all scram-sha-256
    hostssl certified all 127.0.0.1/32 scram-sha-256 clientcert=verify-full
    host stackroom all 127.0.0.1/32 scram-sha-256\n`
  writeFileSync(join(cluster, 'pg_hba.conf'), rules)
  await first.stop()
  const server = await startPostgres({ dataDir })

  /** Whether the connection is encrypted. Throws what the start throws. */
  async function isEncrypted(hosts: string, query: string, name = 'stackroom') {
    const url = `postgres://stackroom:${password}@${hosts}/${name}?${query}`
    const flags = { 'database.url': url, 'database.wait_seconds': 0 }
    const { sql, close } = await openDatabase(loadConfig({ env: {}, flags }))
    try {
      return one(
        await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`,
      ).ssl
    } finally {
      await close()
    }
  }
  const [host, address] = [`localhost:${port}`, `127.0.0.1:${port}`]
  const verified = `sslrootcert=${folder}/ca.crt`
  const refused = (work: Promise<unknown>, message: RegExp) =>
    t.rejects(work, { name: 'Invalid', message })

  try {
    t.equal(await isEncrypted(host, ''), true, 'by default where the server offers it')
    t.equal(await isEncrypted(host, 'sslmode=disable'), false)
    t.equal(await isEncrypted(host, 'sslmode=allow'), false)
    t.equal(await isEncrypted(host, 'sslmode=require'), true)
    t.equal(await isEncrypted(host, `sslmode=verify-full&${verified}`), true)
    t.equal(await isEncrypted(address, `sslmode=verify-ca&${verified}`), true)
    await refused(
      isEncrypted(address, `sslmode=verify-full&${verified}`),
      /ALTNAME_INVALID.*use a host name from the certificate/,
    )
    for (const mode of ['require', 'verify-ca', 'verify-full'])
      await refused(
        isEncrypted(host, `sslmode=${mode}&sslrootcert=${folder}/other.crt`),
        /sslrootcert in database\.url is not the authority/,
      )
    const strict = `sslmode=verify-full&${verified}`
    await refused(isEncrypted(host, strict, 'certified'), /28000.*valid client certificate/)
    const own = `sslcert=${folder}/client.crt&sslkey=${folder}/client.key`
    t.equal(await isEncrypted(host, `${strict}&${own}`, 'certified'), true)
    const hosts = `localhost:1,${host}`
    t.equal(await isEncrypted(hosts, strict), true, 'the next host when one is absent')
    await refused(isEncrypted('localhost:1,localhost:2', ''), /ECONNREFUSED/)
  } finally {
    await server.stop()
  }
})
