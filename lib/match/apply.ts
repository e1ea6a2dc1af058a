// Applies what a source states about a series or book: fields with their provenance, external ids, links and ratings.
import type { Viewer } from '../accounts/viewer.ts'
import { changeEvents, eventFields } from '../catalog/metadata/change-events.ts'
import { putExternalId } from '../catalog/metadata/external-reference.ts'
import {
  type Former,
  type FormerField,
  type StatedReferences,
  sourceMatch,
  statedReferences,
  storeFormer,
  storeStatedReferences,
} from '../catalog/metadata/stated-references.ts'
import type { Owner } from '../catalog/owner.ts'
import { httpUrl } from '../media/metadata/text.ts'
import type { FetchedBook, FetchedSeries } from '../sources/contract.ts'
import { publish } from '../store/event/publish.ts'
import type { Transaction } from '../store/postgres/db.ts'
import { lockNameOf, referenceFields, referenceTypes } from './fields.ts'
import { lockSubject } from './lock-subject.ts'
import { type FieldProposal, hashOf, type Permitted, propose, proposeFields } from './proposal.ts'
import type { Subject } from './subject.ts'

export type Fetch = {
  owner: Owner
  /** Name of the source in provenance and external ids. */
  source: string
  fetched: FetchedSeries | FetchedBook
  permitted: Permitted
}

/** The compared values, and what changes; `isUnchanged`: the source states the same as last time. */
export type Comparison = { fields: FieldProposal[]; hash: string; isUnchanged: boolean }

type Prepared = {
  subject: Subject
  references: StatedReferences
  former: Former
  comparison: Comparison
}

/** Compares without changing anything. Throws NotFound. */
export async function compareFetched(
  tx: Transaction,
  viewer: Viewer,
  fetch: Fetch,
): Promise<Comparison> {
  return (await prepare(tx, viewer, fetch)).comparison
}

/** Stores what may change; nothing if the source is unchanged, unless forced. Throws NotFound. */
export async function applyFetched(
  tx: Transaction,
  viewer: Viewer,
  fetch: Fetch & { isForced: boolean },
): Promise<Comparison> {
  const { subject, references, former, comparison } = await prepare(tx, viewer, fetch)
  if (comparison.isUnchanged && !fetch.isForced) return comparison
  const { source, fetched, owner } = fetch
  const proposals = comparison.fields.filter(({ action }) => action === 'change')
  const changes = new Map(proposals.map(({ field, proposed }) => [field as string, proposed]))
  const origins = proposals.map(({ field }) => [lockNameOf(owner.kind, field), source])
  const values = [...changes].filter(([field]) => !(field in referenceTypes))
  const { columns, events } = await subject.store({
    changes: new Map(values),
    provenance: { external_ids: source, ...subject.provenance, ...Object.fromEntries(origins) },
  })
  await putExternalId(tx, owner, {
    ...{ source, externalId: fetched.externalId, metadataHash: comparison.hash },
    externalUrl: linkOf(fetched.url),
  })
  await storeStatedReferences(tx, owner, {
    externalIds: changes.has('externalIds') ? references.externalIds : [],
    externalLinks: changes.has('externalLinks') ? references.externalLinks : [],
    externalRatings: changes.has('externalRatings') ? references.externalRatings : [],
  })
  await storeFormer(tx, owner, {
    ...{ source, former: { ...former, ...formerFields(former, proposals, source) } },
  })
  const referenced = referenceFields[owner.kind].filter(field => changes.has(field))
  const fields = [
    ...eventFields(columns),
    ...referenced.map(field => lockNameOf(owner.kind, field)),
    ...(comparison.isUnchanged ? [] : ['external_ids']),
  ]
  await publish(tx, [...changeEvents([subject.item], () => [...new Set(fields)]), ...events])
  return comparison
}

/** The fields as they were before this source first changed them, unless something else has set them since. */
function formerFields(former: Former, proposals: readonly FieldProposal[], source: string): Former {
  return Object.fromEntries(
    proposals.map(({ field, current, proposed, provenance }): [string, FormerField] => {
      const before = provenance === source ? former[field] : undefined
      const { value, provenance: origin } = before ?? { value: current, provenance }
      if (!(field in referenceTypes)) return [field, { value, provenance: origin }]
      const stated = (proposed as { source: string }[]).map(reference => reference.source)
      const names = [...(before?.names ?? []), ...stated]
      return [field, { value, provenance: origin, names: [...new Set(names)] }]
    }),
  )
}

async function prepare(tx: Transaction, viewer: Viewer, fetch: Fetch): Promise<Prepared> {
  const { owner, source, fetched, permitted } = fetch
  const subject = await lockSubject(tx, viewer, owner)
  const stored = await statedReferences(tx, owner)
  const references = referencesOf(fetched, source)
  const current = <K extends keyof StatedReferences>(field: K) => {
    const stated = new Set(references[field].map(item => item.source))
    return stored[field].filter(item => stated.has(item.source))
  }
  const compared = {
    ...subject,
    values: {
      ...subject.values,
      externalIds: current('externalIds'),
      externalLinks: current('externalLinks'),
      externalRatings: current('externalRatings'),
    },
  }
  const own = await sourceMatch(tx, owner, source)
  const hash = hashOf(fetched)
  const fields = [
    ...proposeFields(fetched, compared, permitted),
    ...referenceFields[owner.kind].flatMap(field =>
      references[field].length > 0
        ? [propose(field, { proposed: references[field], current: compared, permitted })]
        : [],
    ),
  ]
  const isUnchanged = own?.hash === hash && own.externalId === fetched.externalId
  const comparison = { fields, hash, isUnchanged }
  return { subject, references, former: own?.former ?? {}, comparison }
}

// Per kind.
const maxReferences = 100

/** One reference per source, sorted by name, without the source's own id and without URLs that are not links. */
function referencesOf(fetched: FetchedSeries | FetchedBook, own: string): StatedReferences {
  const { externalIds, links } = fetched
  const ratings = 'ratings' in fetched ? fetched.ratings : []
  return {
    externalIds: bySource(
      externalIds.flatMap(({ source, externalId, url }) =>
        source === own ? [] : [{ source, externalId, url: linkOf(url) }],
      ),
    ),
    externalLinks: bySource(
      links.flatMap(({ source, url }) => {
        const href = httpUrl(url)
        return href ? [{ source, url: href }] : []
      }),
    ),
    externalRatings: bySource(
      ratings.map(({ source, rating, votes }) => ({ source, rating, votes: boundedVotes(votes) })),
    ),
  }
}

const linkOf = (url: string | null | undefined) => httpUrl(url ?? undefined) ?? null

const boundedVotes = (votes: number | null) =>
  votes === null ? null : Math.min(votes, 2_147_483_647)

function bySource<T extends { source: string }>(items: readonly T[]): T[] {
  const first = new Map(items.toReversed().map(item => [item.source, item]))
  return [...first.values()].sort((a, b) => (a.source < b.source ? -1 : 1)).slice(0, maxReferences)
}
