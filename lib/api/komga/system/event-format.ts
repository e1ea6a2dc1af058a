// Events of the catalogue as Komga names them (server-sent events).
import type { EventRow } from '../../../event/event-rows.ts'

type Message = { name: string; data: Record<string, unknown> }

/** The blocks of a row: those of the events with these indexes, or of all. Some events have no counterpart. */
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

/** A message that is no event of the table. */
export const formatKomgaMessage = (message: Message): Buffer => Buffer.from(`${block(message)}\n`)

const block = ({ name, data }: Message) => `event: ${name}\ndata: ${JSON.stringify(data)}\n`

const changes: Record<string, string> = {
  created: 'Added',
  updated: 'Changed',
  deleted: 'Deleted',
}

function messagesOf(row: EventRow, index: number): Message[] {
  const { type, libraryId, accountId: userId } = row
  const seriesId = row.seriesIds?.[index]
  const bookId = row.bookIds?.[index]
  const isDeleted = row.fields?.includes('deleted') === true
  const isCover = row.fields?.includes('cover') === true
  const [, subject = '', action = ''] = /^(.+)_(created|updated|deleted)$/.exec(type) ?? []
  const change = changes[action]!
  if (subject === 'library') return [{ name: `Library${change}`, data: { libraryId } }]
  if (subject === 'series') return [{ name: `Series${change}`, data: { seriesId, libraryId } }]
  if (subject === 'book') return [{ name: `Book${change}`, data: { bookId, seriesId, libraryId } }]
  if (subject === 'progress') {
    const change = isDeleted ? 'Deleted' : 'Changed'
    return [
      { name: `ReadProgress${change}`, data: { bookId, userId } },
      { name: `ReadProgressSeries${change}`, data: { seriesId, userId } },
    ]
  }
  if (subject === 'cover')
    return bookId === undefined
      ? [{ name: 'ThumbnailSeriesAdded', data: { seriesId, selected: true } }]
      : [{ name: 'ThumbnailBookAdded', data: { bookId, seriesId, selected: true } }]
  // The members are not part of the event.
  if (subject === 'collection')
    return [
      isCover
        ? { name: 'ThumbnailSeriesCollectionAdded', data: { ...row.data, selected: true } }
        : { name: `Collection${change}`, data: { ...row.data, seriesIds: [] } },
    ]
  if (subject === 'read_list')
    return [
      isCover
        ? { name: 'ThumbnailReadListAdded', data: { ...row.data, selected: true } }
        : { name: `ReadList${change}`, data: { ...row.data, bookIds: [] } },
    ]
  return []
}
