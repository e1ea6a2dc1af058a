// Applies what a source states about a series: fields with their provenance, external ids, links and ratings.
import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../accounts/viewer.ts'
import { refreshEdited } from '../catalog/derived/refresh.ts'
import { registerLabels } from '../catalog/label/label.ts'
import {
  type AlternateTitleRecord,
  identifiedTitles,
  type StoredTitle,
} from '../catalog/metadata/alternate-titles.ts'
import { changeEvents, eventFields } from '../catalog/metadata/change-events.ts'
import {
  type ColumnTypes,
  editedColumns,
  selectColumns,
  updateRows,
} from '../catalog/metadata/columns.ts'
import {
  putExternalId,
  type StatedReferences,
  statedReferences,
  storeStatedReferences,
} from '../catalog/metadata/external-reference.ts'
import { ownerNotFound } from '../catalog/owner.ts'
import { fromSeriesForUpdate } from '../catalog/row-locks.ts'
import { seriesFields } from '../media/metadata/series-fields.ts'
import { httpUrl } from '../media/metadata/text.ts'
import { sortKey } from '../media/name/natural.ts'
import { searchKey } from '../media/name/text.ts'
import type { FetchedSeries } from '../sources/contract.ts'
import { publish } from '../store/event/publish.ts'
import type { Transaction } from '../store/postgres/db.ts'
import {
  type FieldProposal,
  hashOf,
  lockNameOf,
  type Permitted,
  propose,
  proposeFields,
} from './proposal.ts'

type MatchedRow = {
  id: string
  libraryId: string
  title: string
  titleSort: string | null
  genres: string[]
  tags: string[]
  alternateTitles: StoredTitle[]
  locks: string[]
  provenance: Record<string, string>
}

export type Fetch = {
  seriesId: string
  /** Name of the source in provenance and external ids. */
  source: string
  fetched: FetchedSeries
  permitted: Permitted
}

/** The compared values, and what changes; `isUnchanged`: the source states the same as last time. */
export type Comparison = { fields: FieldProposal[]; hash: string; isUnchanged: boolean }

type Prepared = { row: MatchedRow; references: StatedReferences; comparison: Comparison }

/** Compares without changing anything. Throws NotFound. */
export async function compareFetched(
  tx: Transaction,
  viewer: Viewer,
  fetch: Fetch,
): Promise<Comparison> {
  return (await prepare(tx, viewer, fetch)).comparison
}

/** Locks the series and stores what may change; nothing if the source is unchanged, unless forced. Throws NotFound. */
export async function applyFetched(
  tx: Transaction,
  viewer: Viewer,
  fetch: Fetch & { isForced: boolean },
): Promise<Comparison> {
  const { row, references, comparison } = await prepare(tx, viewer, fetch)
  if (comparison.isUnchanged && !fetch.isForced) return comparison
  const { source, fetched } = fetch
  const changes = new Map(
    comparison.fields.flatMap(({ field, action, proposed }) =>
      action === 'change' ? [[field, proposed] as const] : [],
    ),
  )
  const columns = await storeFields(tx, row, { changes, source })
  const owner = { kind: 'series', id: row.id } as const
  await putExternalId(tx, owner, {
    ...{ source, externalId: fetched.externalId, metadataHash: comparison.hash },
    externalUrl: linkOf(fetched.url),
  })
  await storeStatedReferences(tx, row.id, {
    externalIds: changes.has('externalIds') ? references.externalIds : [],
    externalLinks: changes.has('externalLinks') ? references.externalLinks : [],
    externalRatings: changes.has('externalRatings') ? references.externalRatings : [],
  })
  const referenceFields = referenceKinds.filter(field => changes.has(field)).map(lockNameOf)
  const ids = comparison.isUnchanged ? [] : ['external_ids']
  const fields = [...new Set([...eventFields(columns), ...referenceFields, ...ids])]
  const events = changeEvents([row], () => fields)
  await publish(tx, events)
  return comparison
}

async function prepare(tx: Transaction, viewer: Viewer, fetch: Fetch): Promise<Prepared> {
  const { seriesId, source, fetched, permitted } = fetch
  const [row] = await tx<MatchedRow[]>`
    select s.id, s.library_id as "libraryId", ${selectColumns(tx, seriesFields, 's')}, s.genres,
      s.tags, s.locks, s.provenance
    ${fromSeriesForUpdate(tx, viewer, [seriesId])}`
  if (!row) throw ownerNotFound('series')
  const stored = await statedReferences(tx, row.id)
  const references = referencesOf(fetched, source)
  const names = (items: readonly { source: string }[]) => new Set(items.map(item => item.source))
  const current = <K extends keyof StatedReferences>(field: K) => {
    const stated = names(references[field])
    return stored[field].filter(item => stated.has(item.source))
  }
  const values = {
    ...row,
    alternateTitles: row.alternateTitles.map(({ label, title }) => ({ label, title })),
    externalIds: current('externalIds'),
    externalLinks: current('externalLinks'),
    externalRatings: current('externalRatings'),
  }
  const series = { values, locks: row.locks, provenance: row.provenance }
  const [own] = await tx<{ hash: string | null; externalId: string }[]>`
    select hash, external_id as "externalId" from external_reference
    where kind = 'id' and series_id = ${row.id} and source = ${source}`
  const hash = hashOf(fetched)
  const fields = [
    ...proposeFields(fetched, series, permitted),
    ...referenceKinds.flatMap(field =>
      references[field].length > 0
        ? [propose(field, { proposed: references[field], series, permitted })]
        : [],
    ),
  ]
  const isUnchanged = own?.hash === hash && own.externalId === fetched.externalId
  return { row, references, comparison: { fields, hash, isUnchanged } }
}

const referenceKinds = ['externalIds', 'externalLinks', 'externalRatings'] as const
// Per kind.
const maxReferences = 100

/** One reference per source, sorted by name, without the source's own id and without URLs that are not links. */
function referencesOf(
  { externalIds, links, ratings }: FetchedSeries,
  own: string,
): StatedReferences {
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

type FieldChanges = { changes: ReadonlyMap<string, unknown>; source: string }

/** Returns the names of the columns that changed. */
async function storeFields(tx: Transaction, row: MatchedRow, { changes, source }: FieldChanges) {
  const own = [...changes].filter(([field]) => field in seriesFields)
  const labels = (['genres', 'tags'] as const).filter(field => changes.has(field))
  for (const field of labels)
    await registerLabels(tx, field === 'genres' ? 'genre' : 'tag', changes.get(field) as string[])
  const origins = [...changes.keys()].map(field => [lockNameOf(field as never), source])
  const provenance = { external_ids: source, ...row.provenance, ...Object.fromEntries(origins) }
  if (changes.size === 0 && isDeepStrictEqual(provenance, row.provenance)) return []
  const columns = own.map(([field]) => seriesFields[field as keyof typeof seriesFields])
  const { title, titleSort } = { ...row, ...Object.fromEntries(changes) } as MatchedRow
  const values = own.map(([field, value], i) => [
    columns[i]!.column,
    field === 'alternateTitles'
      ? identifiedTitles(row.alternateTitles, value as AlternateTitleRecord[])
      : value,
  ])
  const types = {
    ...editedColumns,
    ...Object.fromEntries(columns.map(({ column, sqlType }) => [column, sqlType])),
    ...Object.fromEntries(labels.map(field => [field, 'text[]'])),
  } as ColumnTypes
  const changed = await updateRows(tx, 'series', {
    columns: types,
    rows: [
      {
        id: row.id,
        ...Object.fromEntries(values),
        ...Object.fromEntries(labels.map(field => [field, changes.get(field)])),
        ...{ sort_key: sortKey(titleSort ?? title), search_key: searchKey(title) },
        ...{ locks: row.locks, provenance },
      },
    ],
  })
  const names = changed.get(row.id) ?? []
  await refreshEdited(tx, { seriesIds: [row.id], columns: names })
  return names
}
