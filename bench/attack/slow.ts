// Slow clients: connections that send a request byte by byte.
import { connect, type Socket } from 'node:net'

/** Keeps `count` connections open, which send the header or body of a request slowly, until it is stopped. */
export function startSlowClients(base: string, key: string, count: number) {
  const { hostname, port } = new URL(base)
  const head = (path: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n${more}`
  const starts = [
    `${head('/api/v1/auth/login', '')}\r\n{`,
    `${head('/api/v1/books/list', `X-API-Key: ${key}\r\n`)}\r\n{`,
    head('/api/v1/books/list', 'X-Slow: '),
    `${head('/komga/api/v1/readlists', `X-API-Key: ${key}\r\n`)}\r\n`,
  ]
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), hostname, () => socket.write(starts[i % starts.length]!))
    socket.on('error', () => {})
    sockets.push(socket)
  }
  const timer = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(' ')
  }, 200)
  return () => {
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  }
}
