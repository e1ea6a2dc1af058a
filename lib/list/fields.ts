// Filter fields of books and series: names, value kinds, operators and limits. The SQL of a field is in
// sql/book-fields.ts or sql/series-fields.ts; a field without SQL does not compile.

/** Limits on a condition: nesting, number of nodes, values of one list, characters of one value. */
export const maxConditionDepth = 20
export const maxConditionNodes = 500
export const maxListValues = 500
export const maxValueLength = 500

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
  releaseDate: 'date',
  dateAdded: 'date',
  addedAt: 'date',
  lastReadAt: 'date',
  wantToRead: 'boolean',
  hasUserRating: 'boolean',
  userRating: 'number',
  communityRating: 'number',
  completion: 'boolean',
  inCollection: 'boolean',
  hasExternalSourceId: 'boolean',
  isTracked: 'boolean',
  ageRating: 'number',
  readingDirection: 'text',
  oneShot: 'boolean',
  format: 'text',
  hasError: 'boolean',
  hasMissing: 'boolean',
  bookCount: 'number',
  pageCount: 'number',
  sharingTag: 'text',
} as const

const { sharingTag: _adminOnly, ...forEveryone } = seriesFields
/** The fields that every account may filter by. */
export const publicSeriesFields = forEveryone
const { inCollection: _collections, ...ofRules } = forEveryone
/** The fields of rules of collections. */
export const ruleFields = ofRules

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
  author: 'text',
  path: 'text',
  bookType: 'text',
  format: 'text',
  pageCount: 'number',
  releaseDate: 'date',
  dateAdded: 'date',
  addedAt: 'date',
  lastReadAt: 'date',
  wantToRead: 'boolean',
  userRating: 'number',
  inCollection: 'boolean',
  inReadList: 'boolean',
} as const

/**
 * Fields that requests of the native API do not name, only those of other grammars (lib/protocols/komga/routes). They have
 * no kind: who makes a predicate on one chooses the test.
 */
type InnerSeriesField =
  | 'anyTag'
  | 'collectionId'
  | 'complete'
  | 'credit'
  | 'firstRelease'
  | 'isMissing'
  | 'isUnchanged'
  | 'text'
  | 'totalBookCount'
type InnerBookField =
  | 'credit'
  | 'errorCode'
  | 'isbn'
  | 'isMissing'
  | 'numberSort'
  | 'oneShot'
  | 'ownTag'
  | 'poster'
  | 'readListId'
  | 'text'

/** The fields that need SQL. */
export type SeriesField = keyof typeof seriesFields | InnerSeriesField
export type BookField = keyof typeof bookFields | InnerBookField
export type FieldKind = 'id' | 'text' | 'status' | 'number' | 'date' | 'boolean'

const textParts = {
  contains: 'value',
  doesNotContain: 'value',
  beginsWith: 'value',
  endsWith: 'value',
} as const

/**
 * Operators by field kind, with the operands that follow the operator. Every kind also has `isNull` and
 * `isNotNull`. Those of `textParts` compare the text of a value, also of an id or a status.
 */
export const operators = {
  id: { is: 'value', isNot: 'value', in: 'values', notIn: 'values', ...textParts },
  text: { is: 'value', isNot: 'value', ...textParts },
  status: { is: 'value', isNot: 'value', ...textParts },
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
  boolean: { isTrue: 'nothing', isFalse: 'nothing', is: 'value', isNot: 'value', ...textParts },
} as const satisfies Record<FieldKind, Record<string, 'value' | 'values' | 'range' | 'nothing'>>

export const nullOperators = ['isNull', 'isNotNull']
export const textPartOperators = Object.keys(textParts)

/** Names of the two ends of a range. */
export const rangeKeys = { number: ['min', 'max'], date: ['start', 'end'] } as const
