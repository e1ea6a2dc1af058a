// Keys of Komga's search conditions on series and books, each as a condition of the list engine.

import { Invalid } from '../../../base/errors.ts'
import type { Condition } from '../../../list/condition.ts'
import { readStatuses } from '../../../list/fields.ts'
import { formatNames } from '../../../media/format/formats.ts'
import {
  mediaProfiles,
  profileOf,
  seriesStatusNames,
  statusesNamed,
  storedRole,
  unsupportedErrors,
} from '../values.ts'
import { complement, everything, nothing, type Part, predicate } from './condition-tree.ts'
import {
  booleanTest,
  dateTest,
  enumValue,
  equality,
  flagTest,
  idTest,
  nullableEquality,
  numericTest,
  type Operation,
  stringTest,
  textEquality,
  textValue,
} from './operators.ts'

export type KeyContext = {
  /** Only administrators see sharing labels: others have none. */
  isAdmin: boolean
  now: Date
}
export type Keys = Readonly<Record<string, (operation: Operation, context: KeyContext) => Part>>

const common: Keys = {
  libraryId: operation => idTest(operation, 'libraryId'),
  // These are complements of each other, because missing is never unknown.
  deleted: operation =>
    booleanTest(operation, isTrue =>
      predicate('isMissing', { kind: 'boolean', value: true }, !isTrue),
    ),
  oneShot: operation => flagTest(operation, 'oneShot'),
  title: operation => stringTest(operation, 'title'),
  author: operation => equality(operation, credit),
  readStatus: operation => equality(operation, readStatus),
}

export const seriesKeys: Keys = {
  ...common,
  collectionId: operation => idTest(operation, 'collectionId'),
  complete: operation => flagTest(operation, 'complete'),
  titleSort: operation => stringTest(operation, 'titleSort'),
  releaseDate: (operation, { now }) => dateTest(operation, 'firstRelease', now),
  tag: operation => nullableEquality(operation, 'anyTag'),
  genre: operation => nullableEquality(operation, 'genre'),
  sharingLabel: (operation, { isAdmin }) => {
    const condition = nullableEquality(operation, 'sharingTag')
    if (isAdmin) return condition
    return operation.operator === 'isNull' || operation.operator === 'isNot' ? everything : nothing
  },
  publisher: operation => textEquality(operation, 'publisher'),
  language: operation => textEquality(operation, 'language'),
  ageRating: operation =>
    numericTest(operation, 'ageRating', { isNullable: true, isInteger: true }),
  seriesStatus: operation => equality(operation, seriesStatus),
}

export const bookKeys: Keys = {
  ...common,
  seriesId: operation => idTest(operation, 'seriesId'),
  readListId: operation => idTest(operation, 'readListId'),
  releaseDate: (operation, { now }) => dateTest(operation, 'releaseDate', now),
  tag: operation => nullableEquality(operation, 'ownTag'),
  numberSort: operation => numericTest(operation, 'numberSort'),
  mediaStatus: operation => equality(operation, mediaStatus),
  mediaProfile: operation => equality(operation, mediaProfile),
  poster: operation => equality(operation, poster),
}

export const readStatusNames = ['UNREAD', 'READ', 'IN_PROGRESS'] as const

export function readStatus(value: unknown, path: string): Condition {
  const name = enumValue(value, readStatusNames, path).toLowerCase()
  const status = readStatuses.find(status => status === name)!
  return predicate('readStatus', { kind: 'status', status })
}

export function seriesStatus(value: unknown, path: string): Condition {
  const name = enumValue(value, seriesStatusNames, path)
  return predicate('status', { kind: 'words', words: statusesNamed(name) })
}

export const mediaStatusNames = ['READY', 'UNKNOWN', 'ERROR', 'UNSUPPORTED', 'OUTDATED'] as const
const hasError = predicate('hasError', { kind: 'boolean', value: true })
const isUnread = predicate('format', { kind: 'null' })
const hasPages = predicate('pageCount', { kind: 'compare', operator: '>=', value: 1 })
const isUnsupported = predicate('errorCode', { kind: 'words', words: unsupportedErrors })

/** Consistent with `mediaStatus` in values.ts. */
export function mediaStatus(value: unknown, path: string): Condition {
  switch (enumValue(value, mediaStatusNames, path)) {
    case 'READY':
      return { all: [complement(hasError), complement(isUnread), hasPages] }
    case 'UNKNOWN':
      return { all: [complement(hasError), isUnread] }
    case 'ERROR':
      return {
        any: [
          { all: [hasError, complement(isUnsupported)] },
          { all: [complement(hasError), complement(isUnread), complement(hasPages)] },
        ],
      }
    case 'UNSUPPORTED':
      return isUnsupported
    case 'OUTDATED':
      return nothing
  }
}

function mediaProfile(value: unknown, path: string): Condition {
  const profile = enumValue(value, mediaProfiles, path)
  const words = formatNames.filter(format => profileOf(format) === profile)
  return predicate('format', { kind: 'words', words })
}

function credit(value: unknown, path: string): Condition {
  const { name, role } = objectValue(value, path)
  return creditCondition(
    optional(name, text => textValue(text, `${path}.name`)),
    optional(role, text => textValue(text, `${path}.role`)),
  )
}

/** Books or series with a credit of this name and role; null for any. */
export const creditCondition = (name: string | null, role: string | null): Condition =>
  predicate('credit', {
    ...{ kind: 'credit', operator: 'equals', name },
    role: role === null ? null : storedRole(role),
  })

const posterTypes = ['GENERATED', 'SIDECAR', 'USER_UPLOADED'] as const

/** Covers in book folders count as generated ones. */
function poster(value: unknown, path: string): Part {
  const { type, selected } = objectValue(value, path)
  const name = optional(type, text => enumValue(text, posterTypes, `${path}.type`))
  const isSelected = optional(selected, flag => {
    if (typeof flag !== 'boolean') throw new Invalid(`${path}.selected must be true or false`)
    return flag
  })
  if (name === null && isSelected === null) return null
  if (name === 'SIDECAR') return nothing
  const source = name === null ? null : name === 'GENERATED' ? 'generated' : 'uploaded'
  return predicate('poster', { kind: 'poster', source, isSelected })
}

const optional = <T>(value: unknown, read: (value: unknown) => T): T | null =>
  value === undefined || value === null ? null : read(value)

function objectValue(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Invalid(`${path} must be an object`)
  return value as Record<string, unknown>
}
