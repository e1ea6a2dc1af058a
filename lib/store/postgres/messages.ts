// Tracks the messages of a PostgreSQL connection from outside the driver: whether it is open, and whether it
// owes a response.
import type { Socket } from 'node:net'

type Options = {
  /** 0 disables the timeout. */
  responseTimeoutMs: number
  /** Called when an open connection is closed. */
  onLoss: (() => void) | undefined
}

const code = (letter: string) => letter.charCodeAt(0)
// Messages that the server answers with ReadyForQuery: Sync and Query.
const questions = new Set([code('S'), code('Q')])
const flush = code('H')
const readyForQuery = code('Z')
// Final messages of a response to Flush: RowDescription, NoData, PortalSuspended, CommandComplete,
// ErrorResponse.
const flushAnswers = new Set(['T', 'n', 's', 'C', 'E'].map(code))
const graceMs = 1_000

/**
 * Closes a connection that owes a response and stays silent for the timeout: a network can drop one without
 * an error. While a cursor is read, its reader decides when more rows are requested.
 */
export function followMessages(socket: Socket, { responseTimeoutMs, onLoss }: Options): void {
  let isOpen = false
  let isStarted = false
  // The response to the startup message.
  let owed = 1
  let isFlushed = false
  let timer: NodeJS.Timeout | undefined
  const lost = (message: string) =>
    socket.destroy(Object.assign(new Error(message), { code: 'CONNECTION_CLOSED' }))

  function wait() {
    if (responseTimeoutMs === 0) return
    if (owed > 0 || isFlushed) timer = timer?.refresh() ?? setTimeout(silent, responseTimeoutMs)
    else {
      clearTimeout(timer)
      timer = undefined
    }
  }

  // Time also passes while this process is suspended: then the response arrives soon.
  function silent() {
    const { bytesRead } = socket
    setTimeout(() => {
      if (timer && socket.bytesRead === bytesRead) lost('The server does not respond')
    }, graceMs)
  }

  const received = messageReader(type => {
    if (flushAnswers.has(type)) isFlushed = false
    if (type !== readyForQuery) return
    isOpen = true
    owed -= 1
  })
  const sent = messageReader(type => {
    if (questions.has(type)) owed += 1
    if (type === flush) isFlushed = true
  })
  socket.on('data', (chunk: Buffer) => {
    received(chunk)
    wait()
  })
  const { write } = socket
  socket.write = ((...args: Parameters<typeof write>) => {
    // The startup message has no type.
    if (isStarted) sent(args[0] as Buffer)
    isStarted = true
    wait()
    return write.apply(socket, args)
  }) as typeof write
  // The driver would retry forever.
  socket.once('end', () => isOpen || lost('The server closed the connection'))
  socket.once('close', () => {
    clearTimeout(timer)
    timer = undefined
    if (isOpen) onLoss?.()
  })
}

/** Calls `see` with the type of each message in a stream of chunks. */
function messageReader(see: (type: number) => void): (chunk: Buffer) => void {
  // The rest of the current message that is still to come, or the part of its header that has arrived.
  let skipped = 0
  let header = Buffer.alloc(0)
  return chunk => {
    const bytes = header.length > 0 ? Buffer.concat([header, chunk]) : chunk
    let at = skipped
    for (; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) see(bytes[at]!)
    // Copied, because a view would retain the whole chunk.
    header = Buffer.from(bytes.subarray(at))
    skipped = Math.max(0, at - bytes.length)
  }
}
