// A series as the subject of a match: its values by field, and how they are stored.
import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../accounts/viewer.ts'
import { refreshEdited } from '../catalog/derived/refresh.ts'
import { registerLabels } from '../catalog/label/label.ts'
import {
  type AlternateTitleRecord,
  identifiedTitles,
  type StoredTitle,
} from '../catalog/metadata/alternate-titles.ts'
import {
  type ColumnTypes,
  editedColumns,
  selectColumns,
  updateRows,
} from '../catalog/metadata/columns.ts'
import { found } from '../catalog/owner.ts'
import { fromSeriesForUpdate } from '../catalog/row-locks.ts'
import { seriesFields } from '../media/metadata/series-fields.ts'
import { sortKey } from '../media/name/natural.ts'
import { searchKey } from '../media/name/text.ts'
import type { Transaction } from '../store/postgres/db.ts'
import type { NewValues, Subject } from './subject.ts'

type Row = {
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

/** Locks its row until the transaction ends. Throws NotFound. */
export async function seriesSubject(tx: Transaction, viewer: Viewer, id: string): Promise<Subject> {
  const [locked] = await tx<Row[]>`
    select s.id, s.library_id as "libraryId", ${selectColumns(tx, seriesFields, 's')}, s.genres,
      s.tags, s.locks, s.provenance
    ${fromSeriesForUpdate(tx, viewer, [id])}`
  const row = found('series', locked)
  return {
    ...{ kind: 'series', owner: { kind: 'series', id }, item: row },
    values: {
      ...row,
      alternateTitles: row.alternateTitles.map(({ label, title }) => ({ label, title })),
    },
    ...{ locks: row.locks, provenance: row.provenance },
    async store(values) {
      return { columns: await storeFields(tx, row, values), events: [] }
    },
  }
}

/** Returns the names of the columns that changed. */
async function storeFields(tx: Transaction, row: Row, { changes, provenance }: NewValues) {
  if (changes.size === 0 && isDeepStrictEqual(provenance, row.provenance)) return []
  const own = [...changes].filter(([field]) => field in seriesFields)
  const labels = (['genres', 'tags'] as const).filter(field => changes.has(field))
  for (const field of labels)
    await registerLabels(tx, field === 'genres' ? 'genre' : 'tag', changes.get(field) as string[])
  const columns = own.map(([field]) => seriesFields[field as keyof typeof seriesFields])
  const { title, titleSort } = { ...row, ...Object.fromEntries(changes) } as Row
  const values = own.map(([field, value], i) => [
    columns[i]!.column,
    field === 'alternateTitles'
      ? identifiedTitles(row.alternateTitles, value as AlternateTitleRecord[])
      : (value ?? columns[i]!.empty),
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
