// Pages of ordered lists, read from the nearer end of the list.

/** One page of ids and the number of entries on all pages. */
export type IdPage = { ids: string[]; total: number }

/** The position of a page in a list of `total` entries. */
export type PageWindow = { offset: number; limit: number; total: number }

/** Skipping rows is the cost of a late page, so a page of the second half is read backwards from the end. */
export function nearestEnd({ offset, limit, total }: PageWindow): {
  skip: number
  take: number
  reversed: boolean
} {
  const take = Math.max(Math.min(limit, total - offset), 0)
  const reversed = offset > total / 2
  return { take, reversed, skip: reversed ? total - offset - take : offset }
}

/** Ids in list order, of rows that were read in the reversed order if `reversed`. */
export function idsInOrder(rows: { id: string }[], reversed: boolean): string[] {
  const ids = rows.map(row => row.id)
  return reversed ? ids.reverse() : ids
}
