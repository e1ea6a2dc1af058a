// Positions in books: what an update of a client states about page, share and completion.

/** Omitted values are inferred from the others or stay as they are. */
export type PositionUpdate = {
  /** From 1; 0 for a book that was only opened. */
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
  /** The beginning of the book: it restarts a completed one. */
  isStart: boolean
}

/** From this share on a book is completed; up to the other one a completed book is restarted. */
const completedFrom = 0.98
const restartedUpTo = 0.05
const shareError = 1e-6

/**
 * `stored` is the position that omitted values are taken from. Pages beyond the end become the last page.
 * Without a page count (0) no page is the last.
 */
export function resolvePosition(
  update: PositionUpdate,
  pageCount: number,
  stored: Pick<Position, 'page' | 'percentage'> | null,
): Position {
  const { currentPage, progressPercentage: percentage, completed } = update
  const page =
    currentPage === undefined || pageCount === 0 ? currentPage : Math.min(currentPage, pageCount)
  const isLastPage = pageCount > 0 && page === pageCount
  const retainsPercentage = percentage === undefined && page === undefined && !completed
  const isCompleted = completed ?? (isLastPage || (percentage ?? 0) >= completedFrom)
  const isBeginning =
    percentage === undefined
      ? page !== undefined && page <= Math.max(1, pageCount * restartedUpTo)
      : percentage <= restartedUpTo
  return {
    page: page ?? inferPage(update, pageCount) ?? stored?.page ?? 0,
    percentage: retainsPercentage ? (stored?.percentage ?? null) : (percentage ?? null),
    isCompleted,
    isStart: isBeginning && !isCompleted,
  }
}

function inferPage(
  { progressPercentage, completed }: PositionUpdate,
  pageCount: number,
): number | null {
  if (pageCount === 0) return null
  // Clients round shares: 0.833333 of 6 pages are 5.
  if (progressPercentage !== undefined)
    return Math.min(pageCount, Math.floor((progressPercentage + shareError) * pageCount))
  return completed ? pageCount : null
}
