// Events as they stand in a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html):
//
//   event: book_created
//   data: {"type":"book_created","book_id":"…","bookId":"…","timestamp":"…"}
//   id: 4711
//
// Keys are there in both spellings. Clients that read only `data:` ask for blocks without the first line.
import type { Row } from './event-rows.ts'

type Message = Record<string, unknown>
/** Without the line that names the type. */
type Way = { unnamed: boolean }

/** Events of a row: those at these places, or all of them. */
export function blocksOf(row: Row, way: Way, places?: Iterable<number>): Buffer {
  const first = row.number - row.count + 1
  const make = row.stream === 'entity' ? entityMessage(row) : () => progressMessage(row)
  let text = ''
  for (const i of places ?? row.seriesIds?.keys() ?? [0])
    text += block(row.type, make(i), { ...way, id: first + i })
  return Buffer.from(text)
}

/** The same as a message of now, which has no number. */
export function progressBlock(
  type: string,
  data: Message,
  { unnamed }: { unnamed: boolean },
): Buffer {
  return Buffer.from(block(type, progressMessage({ type, data, at: new Date() }), { unnamed }))
}

/** Tells a client that it has missed something for good and goes on from `id`. */
export function resyncBlock(reason: string, { id, unnamed }: Way & { id: number }): Buffer {
  const message = { type: 'resync', reason, timestamp: new Date().toISOString() }
  return Buffer.from(block('resync', message, { unnamed, id }))
}

/** A comment, and the position from which the client goes on should it be cut off. */
export function comment(words: string, id?: number): Buffer {
  return Buffer.from(id === undefined ? `: ${words}\n\n` : `: ${words}\nid: ${id}\n\n`)
}

function block(type: string, message: Message, { unnamed, id }: Way & { id?: number }): string {
  const name = unnamed ? '' : `event: ${type}\n`
  const place = id === undefined ? '' : `id: ${id}\n`
  return `${name}data: ${JSON.stringify(message)}\n${place}\n`
}

function entityMessage({ type, libraryId, seriesIds, bookIds, fields, accountId, at }: Row) {
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
    for (const key in snake) message[camel(key)] = snake[key]
    if (fields) message.fields = fields
    message.timestamp = timestamp
    return message
  }
}

function progressMessage({ type, data, at }: Pick<Row, 'type' | 'data' | 'at'>): Message {
  const { progress, ...rest } = data ?? {}
  const isRecord = typeof progress === 'object' && progress !== null
  const its = isRecord ? { progress: bothSpellings(progress as Message) } : {}
  return { ...bothSpellings({ type, ...rest, ...its }), timestamp: at.toISOString() }
}

function bothSpellings(message: Message): Message {
  const both: Message = { ...message }
  for (const key of Object.keys(message)) {
    both[snakeOf(key)] ??= message[key]
    both[camel(key)] ??= message[key]
  }
  return both
}

const camel = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const snakeOf = (key: string) => key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
