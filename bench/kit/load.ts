// HTTP load generator with persistent connections. Bodies are counted and discarded: a client that parses
// them costs more than the server that sends them.
import { connect, type Socket } from 'node:net'

/** Rates are answers and megabytes a second, percentiles milliseconds. */
export type Load = {
  rate: number
  mb: number
  p50: number
  p95: number
  p99: number
  errors: number
}

type Options = {
  url: string
  /** Gives the next path, with its slash. */
  path: () => string
  headers?: Record<string, string>
  connections: number
  seconds: number
  /** Also ends after this many requests. */
  requests?: number
}

export async function load(options: Options): Promise<Load> {
  const { url, path, headers = {}, connections, seconds, requests = Infinity } = options
  const lines = Object.entries({ Host: 'bench', ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const { hostname, port } = new URL(url)
  const times: number[] = []
  let bytes = 0
  let errors = 0
  let sent = 0
  const started = performance.now()
  const end = started + seconds * 1000
  const one = async () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    const answers = listen(socket)
    while (performance.now() < end && sent++ < requests) {
      const sentAt = performance.now()
      socket.write(`GET ${path()} HTTP/1.1\r\n${head}\r\n`)
      const answer = await answers.next()
      times.push(performance.now() - sentAt)
      bytes += answer.bytes
      if (answer.status !== 200) errors += 1
      if (answer.status === 0) break
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, one))
  const passed = (performance.now() - started) / 1000
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
  const percentiles = { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  return { rate: times.length / passed, mb: bytes / 1e6 / passed, ...percentiles, errors }
}

type Reply = { status: number; bytes: number }

/** The answers of a connection, one after the other; they must say their length. Status 0: it broke. */
function listen(socket: Socket) {
  let head = ''
  let rest = 0
  let answer: Reply | null = null
  let onReply: ((answer: Reply) => void) | null = null
  const broken = () => onReply?.({ status: 0, bytes: 0 })
  socket.on('error', broken).on('close', broken)
  socket.on('data', chunk => {
    let at = 0
    if (!answer) {
      head += chunk.toString('latin1')
      const stop = head.indexOf('\r\n\r\n')
      if (stop < 0) return
      at = chunk.length - (head.length - stop - 4)
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      answer = { status: Number(head.slice(9, 12)), bytes: length }
      rest = length
      head = ''
    }
    rest -= chunk.length - at
    if (rest > 0) return
    const whole = answer
    answer = null
    onReply?.(whole)
  })
  return {
    next: () =>
      new Promise<Reply>(resolve => {
        onReply = resolve
      }),
  }
}
