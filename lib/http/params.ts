// Path parameters and responses shared by several resources, and what routes of books and series have in common.
import { component, record, Type, uuid } from '../base/schema.ts'

const idOf = (resource: string) => record({ id: uuid({ description: `${resource} id.` }) })

export const BookId = idOf('Book')
export const SeriesId = idOf('Series')
export const LibraryId = idOf('Library')
export const UserId = idOf('User')
export const ApiKeyId = idOf('API key')
export const TaskId = idOf('Task')
export const PresetId = idOf('Preset')
export const CollectionId = idOf('Collection')
export const ReadListId = idOf('Read list')
export const DuplicateGroupId = idOf('Duplicate group')
export const SourceId = idOf('Source')

/** What routes of a book and the same routes of a series differ in. */
export const ofBook = {
  kind: 'book',
  ownerName: 'Book',
  path: '/books/{id}',
  params: BookId,
  read: 'BooksRead',
  write: 'BooksWrite',
} as const
export const ofSeries = {
  kind: 'series',
  ownerName: 'Series',
  path: '/series/{id}',
  params: SeriesId,
  read: 'SeriesRead',
  write: 'SeriesWrite',
} as const

export const Message = component('Message', { message: Type.String() })
