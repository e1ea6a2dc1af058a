// Changes to several series or books at once: metadata, locks, genres and tags, reset, analysis. Hidden and
// unknown ids are skipped; each request is one transaction.
import { isDeepStrictEqual } from 'node:util'
import type { TProperties } from 'typebox'
import type { Viewer } from '../../accounts/viewer.ts'
import { body, component, count, list, name, optional, Type } from '../../base/schema.ts'
import {
  type LabelKind,
  labelKey,
  labelKinds,
  normalizeLabelNames,
} from '../../catalog/label/label.ts'
import { updateLabelsOfMany } from '../../catalog/label/label-assignment.ts'
import {
  lockBookRows,
  resetBookMetadata,
  setBookLocks,
  updateBookMetadata,
} from '../../catalog/metadata/book-metadata.ts'
import {
  bookEdits,
  type Changes,
  editSchemas,
  parseChanges,
  seriesEdits,
} from '../../catalog/metadata/edits.ts'
import {
  bookLockFlags,
  lockProperties,
  seriesLockFlags,
} from '../../catalog/metadata/field-locks.ts'
import {
  lockSeriesRows,
  setSeriesLocks,
  updateSeriesMetadata,
  withMergedCustomMetadata,
} from '../../catalog/metadata/series-metadata.ts'
import { resetSeriesMetadata } from '../../catalog/metadata/series-reset.ts'
import { analyzeMany } from '../../catalog/scan/work-on-many.ts'
import { type Route, route } from '../../http/route.ts'
import { WorkStarted, workStarted } from '../../http/started-work.ts'
import { checkStorable } from '../../media/metadata/user-input.ts'
import type { Transaction } from '../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../store/postgres/retry-on-deadlock.ts'
import { BookIds, BulkCount, bookIds, SeriesIds, seriesIds, skipNote } from './bulk-ids.ts'

const pick = <T extends object, K extends keyof T>(values: T, names: readonly K[]) =>
  Object.fromEntries(names.map(name => [name, values[name]])) as Pick<T, K>

// Fields that several series or books may have in common.
const sharedSeriesEdits = pick(seriesEdits, [
  ...(['publisher', 'imprint', 'status', 'ageRating', 'language', 'readingDirection'] as const),
  ...(['year', 'totalVolumeCount', 'totalChapterCount', 'customMetadata', 'authors'] as const),
])
const sharedBookEdits = pick(bookEdits, [
  ...(['publisher', 'imprint', 'genre', 'languageIso', 'bookType', 'edition'] as const),
  ...(['originalTitle', 'originalYear', 'translator', 'blackAndWhite', 'manga'] as const),
  ...(['customMetadata', 'authors', 'ageRating', 'readingDirection'] as const),
])

type Flags = Readonly<Record<string, boolean | undefined>>
type Request = { viewer: Viewer; ids: readonly string[] }

/** The differences between series and books. The functions return the number of rows. */
type Kind = {
  of: 'series' | 'book'
  path: '/series' | '/books'
  permission: 'SeriesWrite' | 'BooksWrite'
  idsName: 'seriesIds' | 'bookIds'
  ids: typeof seriesIds
  edits: Parameters<typeof parseChanges>[0]
  lockFlags: Readonly<Record<string, string>>
  update: (tx: Transaction, request: Request, changes: Changes) => Promise<number>
  setLocks: (tx: Transaction, request: Request, flags: Flags) => Promise<number>
  /** Also returns the books to read again. */
  reset: (tx: Transaction, request: Request) => Promise<{ count: number; bookIds: string[] }>
}

const kinds: Kind[] = [
  {
    ...{ of: 'series', path: '/series', permission: 'SeriesWrite', idsName: 'seriesIds' },
    ids: seriesIds,
    edits: sharedSeriesEdits,
    lockFlags: seriesLockFlags,
    async update(tx, { viewer, ids }, changes) {
      const series = await lockSeriesRows(tx, viewer, ids)
      await updateSeriesMetadata(tx, series, ({ customMetadata }) =>
        withMergedCustomMetadata(customMetadata, changes),
      )
      return series.length
    },
    async setLocks(tx, { viewer, ids }, flags) {
      return (await setSeriesLocks(tx, await lockSeriesRows(tx, viewer, ids), flags)).size
    },
    async reset(tx, { viewer, ids }) {
      const series = await lockSeriesRows(tx, viewer, ids)
      return { count: series.length, bookIds: await resetSeriesMetadata(tx, series) }
    },
  },
  {
    ...{ of: 'book', path: '/books', permission: 'BooksWrite', idsName: 'bookIds' },
    ids: bookIds,
    edits: sharedBookEdits,
    lockFlags: bookLockFlags,
    async update(tx, { viewer, ids }, changes) {
      const books = await lockBookRows(tx, viewer, ids)
      await updateBookMetadata(tx, books, ({ extraMetadata }) =>
        withMergedCustomMetadata(extraMetadata.customMetadata ?? null, changes),
      )
      return books.length
    },
    async setLocks(tx, { viewer, ids }, flags) {
      return (await setBookLocks(tx, await lockBookRows(tx, viewer, ids), flags)).size
    },
    async reset(tx, { viewer, ids }) {
      const books = await lockBookRows(tx, viewer, ids)
      await resetBookMetadata(tx, books)
      return { count: books.length, bookIds: books.map(({ id }) => id) }
    },
  },
]

const BulkUpdate = component('BulkUpdate', { updatedCount: count(), message: Type.String() })
const updated = (count: number, { of }: Kind) => ({
  updatedCount: count,
  message: `${counted(count, of)} updated`,
})

/** `1 book`, `2 books`, `2 series`. */
function counted(count: number, of: Kind['of']): string {
  return `${count} ${of === 'series' || count === 1 ? of : 'books'}`
}

type Body = Record<string, unknown>

function routesOf(kind: Kind): Route[] {
  const { of, path, permission, idsName, ids, edits } = kind
  const [Name, plural] = of === 'series' ? ['Series', 'several series'] : ['Books', 'several books']
  const parts = ({ [idsName]: ids, ...values }: Body) => ({ ids: ids as string[], values })
  const bulk = (component: string, properties: TProperties) =>
    body(component, { [idsName]: ids, ...properties })
  return [
    route(`PATCH ${path}/bulk/metadata`, {
      operationId: `updateMetadataOf${Name}`,
      permission,
      summary: `Update metadata of ${plural}`,
      description: `Absent fields are unchanged, null clears a field; customMetadata is merged (RFC 7396). Fields in the request are locked against changes by scans. ${skipNote}`,
      body: bulk(`MetadataUpdateOf${Name}`, editSchemas(edits)),
      responses: { 200: BulkUpdate },
      async handle({ body, viewer }, { sql }) {
        checkStorable(body)
        const { ids, values } = parts(body)
        const changes = parseChanges(edits, values, 'patch')
        const count = await retryOnDeadlock(sql, tx => kind.update(tx, { viewer, ids }, changes))
        return updated(count, kind)
      },
    }),
    route(`PUT ${path}/bulk/metadata/locks`, {
      operationId: `updateLocksOf${Name}`,
      permission,
      summary: `Update the field locks of ${plural}`,
      description: `Absent flags are unchanged. ${skipNote}`,
      body: bulk(`LocksUpdateOf${Name}`, lockProperties(kind.lockFlags)),
      responses: { 200: BulkUpdate },
      async handle({ body, viewer }, { sql }) {
        const { ids, values } = parts(body)
        const count = await retryOnDeadlock(sql, tx =>
          kind.setLocks(tx, { viewer, ids }, values as Flags),
        )
        return updated(count, kind)
      },
    }),
    ...labelKinds.map(label => labelRoute(label, kind)),
    route(`POST ${path}/bulk/metadata/reset`, {
      operationId: `resetMetadataOf${Name}`,
      permission,
      summary: `Reset the metadata of ${plural} to their files' metadata`,
      description: `As for a single item. ${skipNote}`,
      body: of === 'series' ? SeriesIds : BookIds,
      responses: { 200: BulkCount },
      async handle({ body, viewer }, { sql, queue }) {
        const { ids } = parts(body)
        const { count, bookIds } = await retryOnDeadlock(sql, tx => kind.reset(tx, { viewer, ids }))
        await analyzeMany({ sql, queue, viewer }, { bookIds })
        return { count, message: `${counted(count, of)} reset` }
      },
    }),
    route(`POST ${path}/bulk/analyze`, {
      operationId: `analyze${of === 'series' ? 'SeveralSeries' : 'SeveralBooks'}`,
      permission,
      summary: `Analyze ${of === 'series' ? 'all books of several series' : plural}`,
      description: skipNote,
      body: bulk(`Analyze${Name}`, {
        force: optional(
          Type.Boolean({
            default: false,
            description: 'Includes books that were already analyzed successfully.',
          }),
        ),
      }),
      responses: { 200: WorkStarted },
      async handle({ body, viewer }, { sql, queue }) {
        const { ids, values } = parts(body)
        const unanalyzedOnly = values.force !== true
        const work = await analyzeMany(
          { sql, queue, viewer },
          { [idsName]: ids },
          { unanalyzedOnly },
        )
        return workStarted(work, 'books to be analyzed')
      },
    }),
  ]
}

const maxNames = 500

function labelRoute(label: LabelKind, kind: Kind): Route {
  const { of, path, permission, idsName, ids } = kind
  const plural = `${label}s` as const
  const Names = label === 'genre' ? 'Genres' : 'Tags'
  const Name = of === 'series' ? 'Series' : 'Books'
  const names = optional(list(name(200), { maxItems: maxNames }))
  return route(`POST ${path}/bulk/${plural}`, {
    operationId: `change${Names}Of${Name}`,
    permission,
    summary: `Add and remove ${plural} of several ${of === 'series' ? of : 'books'}`,
    description: `Names that differ only in case are one ${label}. Changed ${plural} are locked against changes by scans. ${skipNote}`,
    body: body(`LabelChangesOf${Name}`, { [idsName]: ids, add: names, remove: names }),
    responses: { 200: BulkUpdate },
    async handle({ body, viewer }, { sql }) {
      checkStorable(body)
      const { [idsName]: ids, add, remove } = body as Body
      const added = normalizeLabelNames((add as string[] | null | undefined) ?? [])
      const removed = new Set(((remove as string[] | null | undefined) ?? []).map(labelKey))
      const count = await retryOnDeadlock(sql, tx =>
        updateLabelsOfMany(tx, viewer, {
          ...{ of, ids: ids as string[], kind: label },
          names: current => changedNames(current, { added, removed }),
        }),
      )
      return updated(count, kind)
    },
  })
}

/** A name that is both removed and added is added. Unchanged names are returned as they are. */
function changedNames(
  current: string[],
  { added, removed }: { added: string[]; removed: ReadonlySet<string> },
): string[] {
  const names = normalizeLabelNames([
    ...current.filter(name => !removed.has(labelKey(name))),
    ...added,
  ])
  return isDeepStrictEqual(names, current) ? current : names
}

export const bulkChanges = kinds.flatMap(routesOf)
