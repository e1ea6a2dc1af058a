// Locks what a source is matched with.
import type { Viewer } from '../accounts/viewer.ts'
import type { Owner } from '../catalog/owner.ts'
import type { Transaction } from '../store/postgres/db.ts'
import { bookSubject } from './book-subject.ts'
import { seriesSubject } from './series-subject.ts'
import type { Subject } from './subject.ts'

/** Throws NotFound. */
export const lockSubject = (
  tx: Transaction,
  viewer: Viewer,
  { kind, id }: Owner,
): Promise<Subject> =>
  kind === 'series' ? seriesSubject(tx, viewer, id) : bookSubject(tx, viewer, id)
