// What a source is matched with: a series or book, whose row is locked until the transaction ends.
import type { BookOrSeries, Owner, OwnerKind } from '../catalog/owner.ts'
import type { NewEvent } from '../store/event/publish.ts'

/** `changes`: values by field, null to clear one; `provenance` replaces the previous one. */
export type NewValues = {
  changes: ReadonlyMap<string, unknown>
  provenance: Record<string, string>
}

export type Subject = {
  kind: OwnerKind
  owner: Owner
  item: BookOrSeries
  /** By field. */
  values: Readonly<Record<string, unknown>>
  locks: string[]
  provenance: Record<string, string>
  /** Returns the columns that changed, and events about others that changed as a result. */
  store(values: NewValues): Promise<{ columns: string[]; events: NewEvent[] }>
}
