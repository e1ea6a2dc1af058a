// Catalog events in Komga's format (server-sent events).
import type { EventRow } from '../../../../store/event/event-rows.ts'

export type Message = { name: string; data: Record<string, unknown> }

/** The text blocks of a row, for the events with these indexes or for all. Some events have no counterpart. */
export function formatKomgaEvents(
  row: EventRow,
  _options: { unnamed: boolean },
  indexes?: Iterable<number>,
): Buffer {
  const firstId = row.number - row.count + 1
  let text = ''
  for (const i of indexes ?? row.seriesIds?.keys() ?? [0])
    for (const message of messagesOf(row, i)) text += `${block(message)}id: ${firstId + i}\n\n`
  return Buffer.from(text)
}

/** `id` is set for an event from the table. */
export const formatKomgaMessage = (message: Message, id?: number): Buffer =>
  Buffer.from(id === undefined ? `${block(message)}\n` : `${block(message)}id: ${id}\n\n`)

const block = ({ name, data }: Message) => `event: ${name}\ndata: ${JSON.stringify(data)}\n`

const changes: Record<string, string> = {
  created: 'Added',
  updated: 'Changed',
  deleted: 'Deleted',
}

/** An uploaded cover that was not displayed has been deleted. */
const isOfOtherCovers = ({ fields }: EventRow) => fields?.length === 1 && fields[0] === 'covers'

function messagesOf(row: EventRow, index: number): Message[] {
  const { type, libraryId, accountId: userId } = row
  const seriesId = row.seriesIds?.[index]
  const bookId = row.bookIds?.[index]
  const isDeleted = row.fields?.includes('deleted') === true
  const [, subject = '', action = ''] = /^(.+)_(created|updated|deleted)$/.exec(type) ?? []
  const change = changes[action]!
  if (subject === 'library') return [{ name: `Library${change}`, data: { libraryId } }]
  if (type === 'book_updated' && isOfOtherCovers(row))
    return [{ name: 'ThumbnailBookDeleted', data: { bookId, seriesId, selected: false } }]
  if (type === 'series_updated' && isOfOtherCovers(row))
    return [{ name: 'ThumbnailSeriesDeleted', data: { seriesId, selected: false } }]
  if (subject === 'series') return [{ name: `Series${change}`, data: { seriesId, libraryId } }]
  if (subject === 'book') return [{ name: `Book${change}`, data: { bookId, seriesId, libraryId } }]
  if (subject === 'progress') {
    const change = isDeleted ? 'Deleted' : 'Changed'
    return [
      { name: `ReadProgress${change}`, data: { bookId, userId } },
      { name: `ReadProgressSeries${change}`, data: { seriesId, userId } },
    ]
  }
  if (subject === 'cover') {
    const change = isDeleted ? 'Deleted' : 'Added'
    return bookId === undefined
      ? [{ name: `ThumbnailSeries${change}`, data: { seriesId, selected: true } }]
      : [{ name: `ThumbnailBook${change}`, data: { bookId, seriesId, selected: true } }]
  }
  return []
}
