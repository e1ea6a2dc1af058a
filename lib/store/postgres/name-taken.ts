// Unique constraints of names as failures.
import { Conflict } from '../../base/errors.ts'

/** For `catch` of a statement: throws Conflict with this message when it violates the constraint. */
export const nameTaken =
  (constraint: string, message: string) =>
  (cause: unknown): never => {
    if ((cause as { constraint_name?: string }).constraint_name !== constraint) throw cause
    throw new Conflict(message, { cause, reason: 'name_taken' })
  }
