// Cost of a list request, estimated before it is parsed: length of the page, size of the condition.
import type { AdmittedCost } from '../../http/route.ts'

// A page of so many short items, or a condition of so many parts, is made in the time of a normal list.
const maxCheapItems = 250
const maxCheapParts = 10
/** A long item costs as much as so many short ones. */
const fullItemCost = 5

/** Without a page for an aggregate of all that match. */
type ListRequest = { pageSize?: number; isFull?: boolean; body: unknown }

/** Whether the list is expensive for the database or this process (lib/http/limits/list-gate.ts). */
export function listCost({ pageSize = 0, isFull = false, body }: ListRequest): AdmittedCost {
  if (pageSize * (isFull ? fullItemCost : 1) > maxCheapItems) return 'expensive'
  const { condition } = (body ?? {}) as { condition?: unknown }
  return countParts(condition, maxCheapParts + 1) > maxCheapParts ? 'expensive' : 'list'
}

/** Objects and values of lists in a condition, counted up to `limit`. */
function countParts(node: unknown, limit: number): number {
  if (typeof node !== 'object' || node === null) return 1
  let count = Array.isArray(node) ? 0 : 1
  for (const inner of Object.values(node)) {
    if (count >= limit) break
    if (Array.isArray(node) || (typeof inner === 'object' && inner !== null))
      count += countParts(inner, limit - count)
  }
  return count
}
