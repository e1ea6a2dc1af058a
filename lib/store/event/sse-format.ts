// Server-sent events format (https://html.spec.whatwg.org/multipage/server-sent-events.html):
//
//   event: book_created
//   data: {"type":"book_created","book_id":"…","bookId":"…","timestamp":"…"}
//   id: 4711
//
// Keys appear in snake_case and camelCase. Clients that read each block as `data: ` and JSON request blocks
// without `event:`; for them the id is a block of its own, which dispatches nothing.
import type { EventRow } from './event-rows.ts'

type Message = Record<string, unknown>
/** `unnamed`: without the `event:` line, and with the id after the block. */
type BlockOptions = { unnamed: boolean }

/** The events of a row as blocks: those with these indexes, or all of them. */
export function formatEvents(
  row: EventRow,
  { unnamed }: BlockOptions,
  indexes?: Iterable<number>,
): Buffer {
  const firstId = row.number - row.count + 1
  const messageAt = messagesOf(row)
  let text = ''
  for (const i of indexes ?? row.seriesIds?.keys() ?? [0])
    text += block(row.type, messageAt(i), { unnamed, id: firstId + i })
  return Buffer.from(text)
}

function messagesOf(row: EventRow): (index: number) => Message {
  const { type, at } = row
  const each = row.data?.events as Message[] | undefined
  if (each) return index => progressMessage({ type, data: each[index]!, at })
  return row.stream === 'entity' && !row.data ? entityMessage(row) : () => progressMessage(row)
}

/** Current progress as a block; it has no number, because it is not an event from the table. */
export function formatProgress(type: string, data: Message, options: BlockOptions): Buffer {
  return Buffer.from(block(type, progressMessage({ type, data, at: new Date() }), options))
}

/** Notifies a client that it has permanently missed events; it continues after `id`. */
export function formatResync(reason: string, { id, unnamed }: BlockOptions & { id: number }) {
  const message = { type: 'resync', reason, timestamp: new Date().toISOString() }
  return Buffer.from(block('resync', message, { unnamed, id }))
}

/** A comment, and the position from which the client resumes after disconnecting. */
export function formatComment(text: string, id?: number): Buffer {
  return Buffer.from(id === undefined ? `: ${text}\n\n` : `: ${text}\nid: ${id}\n\n`)
}

function block(type: string, message: Message, { unnamed, id }: BlockOptions & { id?: number }) {
  const eventLine = unnamed ? '' : `event: ${type}\n`
  const idLine = id === undefined ? '' : `${unnamed ? '\n' : ''}id: ${id}\n`
  return `${eventLine}data: ${JSON.stringify(message)}\n${idLine}\n`
}

function entityMessage({ type, libraryId, seriesIds, bookIds, fields, accountId, at }: EventRow) {
  const timestamp = at.toISOString()
  const kind = bookIds ? 'book' : seriesIds ? 'series' : 'library'
  const isCover = type === 'cover_updated'
  return (i: number): Message => {
    const snake: Message = {}
    if (bookIds) snake.book_id = bookIds[i]
    if (seriesIds) snake.series_id = seriesIds[i]
    snake.library_id = libraryId
    if (isCover) {
      snake.entity_type = kind
      snake.entity_id = snake[`${kind}_id`]
    }
    if (accountId) snake.user_id = accountId
    const message: Message = { type, ...snake }
    for (const key in snake) message[camelCase(key)] = snake[key]
    if (fields) message.fields = fields
    message.timestamp = timestamp
    return message
  }
}

function progressMessage({
  type,
  data,
  fields = null,
  at,
}: Pick<EventRow, 'type' | 'data' | 'at'> & { fields?: EventRow['fields'] }): Message {
  const { progress, ...rest } = data ?? {}
  const isObject = typeof progress === 'object' && progress !== null
  const nested = isObject ? { progress: withBothCases(progress as Message) } : {}
  const changed = fields ? { fields } : {}
  return { ...withBothCases({ type, ...rest, ...nested, ...changed }), timestamp: at.toISOString() }
}

function withBothCases(message: Message): Message {
  const both: Message = { ...message }
  for (const key of Object.keys(message)) {
    both[snakeCase(key)] ??= message[key]
    both[camelCase(key)] ??= message[key]
  }
  return both
}

const camelCase = (key: string) =>
  key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const snakeCase = (key: string) => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
