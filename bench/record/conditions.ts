// Lists with conditions: every field with every operator of both grammars, for an administrator or a restricted
// reader alternately, in every sort order.
import {
  bookFields,
  type FieldKind,
  nullOperators,
  operators,
  rangeKeys,
  seriesFields,
} from '../../lib/list/fields.ts'
import { bookSortNames, seriesSortNames } from '../../lib/list/sort.ts'
import type { Request } from './request.ts'

const texts: Record<string, string[]> = {
  genre: ['Drama'],
  tag: ['robots'],
  status: ['ended'],
  publisher: ['Kodansha'],
  language: ['ja'],
  author: ['Neil Gaiman'],
  readingDirection: ['rtl'],
  format: ['epub', 'cbz'],
  bookType: ['comic'],
  sharingTag: ['secret'],
  path: ['Long run/Long run 1'],
  summary: ['Part 2'],
}
const numbers: Record<string, number[]> = {
  year: [1990, 2005],
  ageRating: [13, 17],
  bookCount: [2, 25],
  pageCount: [2, 9],
  userRating: [70, 90],
  communityRating: [70, 90],
}

/** `from` and `to` of a field; ids as named records. */
function operands(field: string, kind: FieldKind): [unknown, unknown] {
  if (kind === 'id')
    return field === 'libraryId'
      ? ['{{libraries:The main one}}', '{{libraries:The second one}}']
      : ['{{series:Akira}}', '{{series:Long run}}']
  if (kind === 'number') return (numbers[field] ?? [1, 5]) as [number, number]
  if (kind === 'date')
    return /last|added/i.test(field)
      ? ['2016-02-10T12:00:00Z', '2016-03-10T12:00:00Z']
      : ['1990-01-01T00:00:00Z', '2005-06-01T00:00:00Z']
  if (kind === 'boolean') return [true, false]
  if (kind === 'status') return ['in_progress', 'read']
  const [value = 'Akira', other = 'The'] = texts[field] ?? []
  return [value, other]
}

function nativeConditions(fields: Record<string, FieldKind>): object[] {
  return Object.entries(fields).flatMap(([field, kind]) => {
    const [from, to] = operands(field, kind)
    const ofKind = Object.entries<string>(operators[kind]).flatMap(
      ([operator, arity]): object[] => {
        if (arity === 'nothing') return [{ operator }]
        if (arity === 'values')
          return [
            { operator, values: [from] },
            { operator, values: [from, to] },
          ]
        if (arity === 'range') {
          const [low, high] = rangeKeys[kind as 'number' | 'date']
          return [
            { operator, [low]: from, [high]: to },
            { operator, [low]: from },
          ]
        }
        return [
          { operator, value: isPart(operator, kind) ? 'e' : from },
          ...(kind === 'text' ? [{ operator, value: to }] : []),
        ]
      },
    )
    return [...ofKind, ...nullOperators.map(operator => ({ operator }))].map(test => ({
      [field]: test,
    }))
  })
}

/** Letters are compared in texts only; letters of ids differ from run to run. */
const isPart = (operator: string, kind: FieldKind) =>
  (kind === 'boolean' || kind === 'status') && !/^(is|isNot)$/.test(operator)

const strings = [
  'is',
  'isNot',
  'contains',
  'doesNotContain',
  'beginsWith',
  'doesNotBeginWith',
  'endsWith',
  'doesNotEndWith',
]
const [flags, equal, nulls] = [
  ['isTrue', 'isFalse'],
  ['is', 'isNot'],
  ['is', 'isNot', 'isNull', 'isNotNull'],
]
const dates = ['before', 'after', 'isInTheLast', 'isNotInTheLast', 'isNull', 'isNotNull']
const counts = ['is', 'isNot', 'greaterThan', 'lessThan']
/** Keys of Komga's grammar: operators and a value. */
const komgaCommon: Record<string, [string[], unknown]> = {
  libraryId: [equal, '{{libraries:The main one}}'],
  deleted: [flags, null],
  oneShot: [flags, null],
  title: [strings, 'akira'],
  author: [equal, { name: 'Neil Gaiman', role: 'writer' }],
  readStatus: [equal, 'IN_PROGRESS'],
  releaseDate: [dates, '1995-06-01T00:00:00Z'],
  tag: [nulls, 'robots'],
}
const komgaKeys = {
  series: {
    ...komgaCommon,
    collectionId: [equal, '{{collections:Chosen & <more>}}'],
    complete: [flags, null],
    titleSort: [strings, 'sandman'],
    genre: [nulls, 'drama'],
    sharingLabel: [nulls, 'secret'],
    publisher: [equal, 'Vertigo'],
    language: [equal, 'ja'],
    ageRating: [[...counts, 'isNull', 'isNotNull'], 13],
    seriesStatus: [equal, 'ENDED'],
  },
  books: {
    ...komgaCommon,
    seriesId: [equal, '{{series:Long run}}'],
    readListId: [equal, '{{readlists:In order}}'],
    numberSort: [counts, 2.5],
    mediaStatus: [equal, 'READY'],
    mediaProfile: [equal, 'EPUB'],
    poster: [equal, { type: 'USER_UPLOADED', selected: true }],
  },
} as const satisfies Record<string, Record<string, [string[], unknown]>>
const komgaSorts = {
  series: [
    'metadata.titleSort',
    'name',
    'created',
    'lastModified',
    'booksMetadata.releaseDate',
    'readDate',
    'booksCount',
  ],
  books: [
    'name',
    'series',
    'created',
    'lastModified',
    'fileSize',
    'url',
    'media.status',
    'media.mediaType',
    'media.pagesCount',
    'metadata.title',
    'metadata.numberSort',
    'metadata.releaseDate',
    'readProgress.readDate',
  ],
}

function komgaConditions(kind: 'series' | 'books'): object[] {
  return Object.entries<[string[], unknown]>(komgaKeys[kind]).flatMap(([key, [names, value]]) =>
    names.map(operator => ({
      [key]: {
        operator,
        ...(/^(isTrue|isFalse|isNull|isNotNull)$/.test(operator)
          ? {}
          : operand(key, operator, value)),
      },
    })),
  )
}

const operand = (key: string, operator: string, value: unknown) =>
  key !== 'releaseDate'
    ? { value }
    : operator.endsWith('Last')
      ? { duration: 'P12000D' }
      : { dateTime: value }

/** Pairs of neighbors under `allOf` and `anyOf`. */
const pairs = (conditions: object[]) =>
  conditions.flatMap((condition, i) =>
    i % 5 === 0
      ? [{ [i % 2 ? 'allOf' : 'anyOf']: [condition, conditions[(i * 7 + 3) % conditions.length]!] }]
      : [],
  )

export function conditionRequests(): Request[] {
  const kinds = [
    {
      path: '/api/v1/books/list',
      conditions: nativeConditions(bookFields),
      sorts: bookSortNames,
      size: 'pageSize',
    },
    {
      path: '/api/v1/series/list',
      conditions: nativeConditions(seriesFields),
      sorts: seriesSortNames,
      size: 'pageSize',
    },
    {
      path: '/komga/api/v1/books/list',
      conditions: komgaConditions('books'),
      sorts: komgaSorts.books,
      size: 'size',
    },
    {
      path: '/komga/api/v1/series/list',
      conditions: komgaConditions('series'),
      sorts: komgaSorts.series,
      size: 'size',
    },
  ]
  return kinds.flatMap(({ path, conditions, sorts, size }) => [
    ...[...conditions, ...pairs(conditions)].map((condition, i) => {
      const order = `&sort=${sorts[i % sorts.length]},${i % 3 === 0 ? 'desc' : 'asc'}`
      return listRequest(i % 4 === 1, `${path}?${size}=12${order}`, { condition })
    }),
    ...sorts.flatMap(sort =>
      ['asc', 'desc'].map(direction =>
        listRequest(direction === 'desc', `${path}?${size}=100&sort=${sort},${direction}`, {}),
      ),
    ),
  ])
}

const listRequest = (isRestricted: boolean, path: string, body: object): Request => ({
  as: isRestricted ? 'reader' : 'admin',
  method: 'POST',
  path,
  body,
  only: 'ids',
})
