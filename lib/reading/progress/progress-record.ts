// Progress record of the API: a reader's progress in a book.
import {
  component,
  nullable,
  optional,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'

export const Progress = component('Progress', {
  id: uuid({ description: 'Book id.' }),
  userId: uuid(),
  bookId: uuid(),
  currentPage: Type.Integer(),
  current_page: Type.Integer(),
  progressPercentage: optional(Type.Number({ minimum: 0, maximum: 1 })),
  completed: Type.Boolean(),
  isCompleted: Type.Boolean(),
  is_completed: Type.Boolean(),
  startedAt: timestamp(),
  updatedAt: timestamp(),
  completedAt: nullable(timestamp()),
})
export type Progress = Static<typeof Progress>

export type ProgressRow = {
  accountId: string
  bookId: string
  currentPage: number
  percentage: number | null
  isCompleted: boolean
  startedAt: Date
  updatedAt: Date
  completedAt: Date | null
}

/** With both spellings of each field, because clients of both dialects read it. */
export function progressRecord(row: ProgressRow): Progress {
  const { accountId, bookId, currentPage, percentage, isCompleted } = row
  const { startedAt, updatedAt, completedAt } = row
  return {
    ...{ id: bookId, userId: accountId, bookId, currentPage, current_page: currentPage },
    ...{ progressPercentage: percentage, completed: isCompleted, isCompleted },
    ...{ is_completed: isCompleted, startedAt, updatedAt, completedAt },
  }
}
