// Undoes the match with a source: its fields get the values from before, unless something else has set them since; its
// external id and its references are removed.
import type { Viewer } from '../accounts/viewer.ts'
import { NotFound } from '../base/errors.ts'
import { changeEvents, eventFields } from '../catalog/metadata/change-events.ts'
import {
  deleteStated,
  type Former,
  type StatedReferences,
  sourceMatch,
  storeStatedReferences,
} from '../catalog/metadata/stated-references.ts'
import type { Owner } from '../catalog/owner.ts'
import { publish } from '../store/event/publish.ts'
import type { Transaction } from '../store/postgres/db.ts'
import { lockNameOf, type MatchedField, referenceFields, referenceTypes } from './fields.ts'
import { lockSubject } from './lock-subject.ts'
import type { Subject } from './subject.ts'

/** Returns the restored fields. Throws NotFound, also if the source was never applied. */
export async function undoMatch(
  tx: Transaction,
  viewer: Viewer,
  { owner, source }: { owner: Owner; source: string },
): Promise<MatchedField[]> {
  const subject = await lockSubject(tx, viewer, owner)
  const match = await sourceMatch(tx, owner, source)
  if (!match?.former) throw new NotFound('There is no match with this source to undo')
  const { former } = match
  const restored = (Object.keys(former) as MatchedField[]).filter(field =>
    isRestored(subject, field, source),
  )
  const { columns, events } = await subject.store({
    changes: new Map(
      restored
        .filter(field => !(field in referenceTypes))
        .map(field => [field, former[field]!.value]),
    ),
    provenance: formerProvenance(subject, { former, restored, source }),
  })
  await restoreReferences(tx, owner, { former, restored, source })
  const references = restored.filter(field => field in referenceTypes)
  const fields = [
    ...eventFields(columns),
    ...references.map(field => lockNameOf(owner.kind, field)),
    'external_ids',
  ]
  await publish(tx, [...changeEvents([subject.item], () => [...new Set(fields)]), ...events])
  return restored
}

function isRestored({ kind, provenance, locks }: Subject, field: MatchedField, source: string) {
  const name = lockNameOf(kind, field)
  return provenance[name] === source && !locks.includes(name)
}

type Restored = { former: Former; restored: readonly MatchedField[]; source: string }

function formerProvenance(subject: Subject, { former, restored, source }: Restored) {
  const names = new Map(restored.map(field => [lockNameOf(subject.kind, field), field]))
  const entries = Object.entries(subject.provenance).flatMap(([name, origin]) => {
    const field = names.get(name)
    if (field === undefined)
      return name === 'external_ids' && origin === source ? [] : [[name, origin]]
    const before = former[field]!.provenance
    return before === null ? [] : [[name, before]]
  })
  return Object.fromEntries(entries) as Record<string, string>
}

async function restoreReferences(
  tx: Transaction,
  owner: Owner,
  { former, restored, source }: Restored,
) {
  const values: StatedReferences = { externalIds: [], externalLinks: [], externalRatings: [] }
  for (const field of referenceFields[owner.kind]) {
    if (!restored.includes(field)) continue
    const { names = [], value } = former[field]!
    await deleteStated(tx, owner, { type: referenceTypes[field], names })
    values[field] = value as never
  }
  await deleteStated(tx, owner, { type: 'id', names: [source] })
  await storeStatedReferences(tx, owner, values)
}
