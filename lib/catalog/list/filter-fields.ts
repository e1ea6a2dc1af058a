// What can be asked of books and series in conditions, and how much of it.

/** Levels of a condition, its parts, values of one list, characters of one value. */
export const topDepth = 20
export const mostNodes = 500
export const mostValues = 500
export const longestValue = 500

export const readStatuses = ['unread', 'in_progress', 'read'] as const
export type ReadStatus = (typeof readStatuses)[number]

export const seriesFields = {
  libraryId: 'id',
  genre: 'text',
  tag: 'text',
  status: 'text',
  publisher: 'text',
  language: 'text',
  name: 'text',
  title: 'text',
  readStatus: 'status',
  titleSort: 'text',
  summary: 'text',
  author: 'text',
  path: 'text',
  year: 'number',
  dateAdded: 'date',
  completion: 'boolean',
  hasExternalSourceId: 'boolean',
  sharingTag: 'text',
} as const

const { sharingTag: _forAdministrators, ...openToAll } = seriesFields
/** Those that every account may ask. */
export const openSeriesFields = openToAll

export const bookFields = {
  libraryId: 'id',
  seriesId: 'id',
  genre: 'text',
  tag: 'text',
  title: 'text',
  readStatus: 'status',
  hasError: 'boolean',
  titleSort: 'text',
  summary: 'text',
  path: 'text',
  bookType: 'text',
  format: 'text',
  pageCount: 'number',
  dateAdded: 'date',
} as const

export type FieldKind = 'id' | 'text' | 'status' | 'number' | 'date' | 'boolean'

/** Operators with what they take beside their name. */
export const operators = {
  id: { is: 'value', isNot: 'value', in: 'values', notIn: 'values' },
  text: {
    is: 'value',
    isNot: 'value',
    contains: 'value',
    doesNotContain: 'value',
    beginsWith: 'value',
    endsWith: 'value',
  },
  status: { is: 'value', isNot: 'value' },
  number: {
    eq: 'value',
    ne: 'value',
    is: 'value',
    isNot: 'value',
    gt: 'value',
    gte: 'value',
    lt: 'value',
    lte: 'value',
    between: 'range',
  },
  date: {
    after: 'value',
    before: 'value',
    onOrAfter: 'value',
    onOrBefore: 'value',
    between: 'range',
  },
  boolean: { isTrue: 'nothing', isFalse: 'nothing', is: 'value', isNot: 'value' },
} as const satisfies Record<FieldKind, Record<string, 'value' | 'values' | 'range' | 'nothing'>>

/** `isNull` and `isNotNull` go with every kind but these. */
export const neverNull: readonly FieldKind[] = ['status', 'boolean']

/** The names of a range's ends. */
export const rangeKeys = { number: ['min', 'max'], date: ['start', 'end'] } as const
