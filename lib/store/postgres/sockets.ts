// Sockets of a pool: tries hosts in order, sets up TLS before the driver starts, and closes silent
// connections.
import { connect, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { followMessages } from './messages.ts'
import type { Encryption } from './tls.ts'

/** A name that begins with a slash is a socket directory. */
export type Host = { name: string; port: number }

export type Target = {
  hosts: readonly Host[]
  encryption: Encryption
  /** TLS starts without asking the server first. */
  isDirectTls: boolean
  sessionAttributes: string | null
  timeoutMs: number
}

type Options = {
  /** Throws if the session on a host is not suitable. */
  check: (host: Host) => Promise<void>
  /** 0 disables the timeout. */
  responseTimeoutMs: number
  onLoss: (() => void) | undefined
}

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const isYes = (answer: Buffer) => answer.length === 1 && answer[0] === 0x53

/** The target described by the driver's options. */
export function targetOf(options: object): Target {
  const given = options as {
    host?: string | string[]
    port?: number | number[]
    ssl?: Encryption
    sslnegotiation?: string
    target_session_attrs?: string
    connect_timeout?: number
  }
  const ports = [given.port ?? 5432].flat()
  return {
    hosts: [given.host ?? 'localhost'].flat().map((name, i) => ({
      name,
      port: ports[i] ?? ports[0]!,
    })),
    encryption: given.ssl ?? false,
    isDirectTls: given.sslnegotiation === 'direct',
    sessionAttributes: given.target_session_attrs ?? null,
    timeoutMs: (given.connect_timeout ?? 0) * 1000,
  }
}

export const socketPath = (folder: string, port: number) => `${folder}/.s.PGSQL.${port}`

export function createSockets(target: Target, { check, responseTimeoutMs, onLoss }: Options) {
  const all = new Set<Socket>()
  let isClosed = false

  const added = <T extends Socket>(socket: T, { name, port }: Host): T => {
    all.add(socket)
    socket.once('close', () => all.delete(socket))
    // The driver attaches its listener later.
    socket.on('error', () => {})
    // Needed for the driver's messages.
    return Object.assign(socket, { host: name, port })
  }

  async function openAt(host: Host): Promise<Socket> {
    const { name, port } = host
    const path = name.startsWith('/') ? socketPath(name, port) : null
    const tcp = added(path ? connect({ path }) : connect({ host: name, port }), host)
    let socket: Socket = tcp
    const timer = setTimeout(
      () => {
        const address = path ?? `${name}:${port}`
        socket.destroy(failure('CONNECT_TIMEOUT', `No connection to ${address} in time`))
      },
      target.timeoutMs || 2 ** 31 - 1,
    )
    try {
      await next(socket, 'connect')
      if (path || !target.encryption) return socket
      if (!target.isDirectTls) {
        socket.write(sslRequest)
        if (!isYes((await next(socket, 'data')) as Buffer)) {
          if (target.encryption === 'prefer') return socket
          throw failure('SSL_NOT_SUPPORTED', 'The server does not support TLS')
        }
      }
      socket = added(
        connectTls({
          socket,
          host: name,
          ...(!isIP(name) && { servername: name }),
          ...(target.isDirectTls && { ALPNProtocols: ['postgresql'] }),
          ...(target.encryption === 'prefer' ? { rejectUnauthorized: false } : target.encryption),
        }),
        host,
      )
      all.delete(tcp)
      await next(socket, 'secureConnect')
      return socket
    } catch (error) {
      socket.destroy()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    /**
     * For the driver's `socket` option; the driver never recovers a connection whose socket promise rejects.
     */
    async open(): Promise<Socket> {
      let error: unknown
      for (const host of target.hosts)
        try {
          if (isClosed) throw failure('CONNECTION_ENDED', 'The pool is closed')
          await check(host)
          const socket = await openAt(host)
          followMessages(socket, { responseTimeoutMs, onLoss })
          return socket
        } catch (thrown) {
          error = thrown
        }
      return failedSocket(error as Error)
    },
    /** Also closes sockets that are still connecting. */
    close() {
      isClosed = true
      // The driver has removed its listeners from sockets it closed.
      for (const socket of all)
        socket.on('error', () => {}).destroy(failure('CONNECTION_ENDED', 'The pool is closed'))
    },
  }
}

/** Fails once the driver has started to listen. */
function failedSocket(error: Error): Socket {
  const socket = new Socket()
  setImmediate(() => socket.destroy(error))
  return socket
}

/** The next event with this name. Rejects if the socket fails or is closed first. */
async function next(socket: Socket, event: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const onClose = () => reject(failure('CONNECTION_CLOSED', 'The server closed the connection'))
  socket.once(event, resolve).once('error', reject).once('close', onClose)
  try {
    return await promise
  } finally {
    socket.off(event, resolve).off('error', reject).off('close', onClose)
  }
}

const failure = (code: string, message: string) => Object.assign(new Error(message), { code })
