// Positions in books: what a client's update states about page, fraction and completion.
import { type FormatName, isReflowable } from '../media/format/formats.ts'

/** Omitted values are inferred from the others or stay as they are. */
export type PositionUpdate = {
  /** 1-based; 0 for a book that was only opened. */
  currentPage?: number | undefined
  /** 0 to 1. */
  progressPercentage?: number | undefined
  completed?: boolean | undefined
}

export type Position = {
  page: number
  /** 0 to 1; null when only the page is known. */
  percentage: number | null
  isCompleted: boolean
  /** Whether it is the beginning of the book, which restarts a completed one. */
  isStart: boolean
}

/** A book is completed from this fraction on; a completed book is restarted up to the other one. */
const completedFrom = 0.98
const restartedUpTo = 0.05
const shareError = 1e-6

type Book = { format: FormatName | null; pageCount: number }

/**
 * Omitted values are taken from the `stored` position. Pages beyond the end become the last page.
 * If the page count is unknown (0), no page is the last.
 */
export function resolvePosition(
  update: PositionUpdate,
  book: Book,
  stored: Pick<Position, 'page' | 'percentage'> | null,
): Position {
  const { currentPage, progressPercentage: percentage, completed } = update
  const { pageCount } = book
  const page =
    currentPage === undefined || pageCount === 0 ? currentPage : Math.min(currentPage, pageCount)
  // The last page of a text may be more than a screen: the fraction shows whether it is read.
  const hasShare = percentage !== undefined && isReflowable(book.format)
  const isLastPage = pageCount > 0 && page === pageCount && !hasShare
  const retainsPercentage = percentage === undefined && page === undefined && !completed
  const isCompleted = completed ?? (isLastPage || (percentage ?? 0) >= completedFrom)
  const isBeginning =
    percentage === undefined
      ? page !== undefined && page <= Math.max(1, pageCount * restartedUpTo)
      : percentage <= restartedUpTo
  return {
    page: page ?? inferPage(update, book) ?? stored?.page ?? 0,
    percentage: retainsPercentage ? (stored?.percentage ?? null) : (percentage ?? null),
    isCompleted,
    isStart: isBeginning && !isCompleted,
  }
}

function inferPage(
  { progressPercentage: share, completed }: PositionUpdate,
  { format, pageCount }: Book,
): number | null {
  if (pageCount === 0) return null
  if (share === undefined) return completed ? pageCount : null
  const before = Math.floor(pagesBefore(share, pageCount))
  // The fraction of a text is what lies before the reader, who is on the next page; in other books it is what was read.
  return Math.min(pageCount, isReflowable(format) ? before + 1 : before)
}

/** The pages that a fraction covers: clients round, so 0.833333 of 6 pages are 5. */
export function pagesBefore(share: number, pageCount: number): number {
  const before = share * pageCount
  const whole = Math.round(before)
  return Math.abs(before - whole) <= shareError * pageCount ? whole : before
}
