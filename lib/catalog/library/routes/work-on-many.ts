// Background work on many books or series: thumbnails, book numbers, series titles.

import type { TProperties } from 'typebox'
import type { Permission } from '../../../accounts/permission.ts'
import type { Viewer } from '../../../accounts/viewer.ts'
import { body, optional, Type, uuid } from '../../../base/schema.ts'
import { LibraryId, SeriesId } from '../../../http/params.ts'
import { type Route, route } from '../../../http/route.ts'
import { WorkStarted, workStarted } from '../../../http/started-work.ts'
import { bookIds, SeriesIds, seriesIds, skipNote } from '../../../organize/routes/bulk-ids.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import {
  analyzeMany,
  generateThumbnails,
  reprocessTitles,
  type Selection,
} from '../../scan/work-on-many.ts'
import { requireSeries } from '../../series/series-record.ts'
import { requireLibrary } from '../library.ts'

const force = optional(
  Type.Boolean({ default: false, description: 'Whether to replace existing thumbnails.' }),
)
const dryRun = optional(
  Type.Boolean({
    default: false,
    description: 'Whether to only count the titles that would change.',
  }),
)
const libraryId = optional(uuid({ description: 'Limits the work to this library.' }))

const common = { responses: { 200: WorkStarted } } as const

type Scope = { viewer: Viewer; sql: Sql; id: string }

/** The subject of the path, as a selection. Throws NotFound. */
const pathScopes = {
  '/series/{id}': async ({ sql, viewer, id }: Scope): Promise<Selection> => {
    await requireSeries(sql, viewer, id)
    return { seriesIds: [id] }
  },
  '/libraries/{id}': async ({ sql, viewer, id }: Scope): Promise<Selection> => {
    await requireLibrary(sql, viewer, id)
    return { libraryId: id }
  },
}

type ManyThumbnails = readonly [
  of: 'book' | 'series',
  subject: string,
  path: string,
  operationId: string,
  /** The field that is required. */
  ids?: 'bookIds' | 'seriesIds',
]
const manyThumbnails: readonly ManyThumbnails[] = [
  ['book', 'books', '/books/thumbnails', 'generateBookThumbnails'],
  ['series', 'series', '/series/thumbnails', 'generateSeriesThumbnails'],
  ['book', 'several books', '/books/bulk/thumbnails', 'generateThumbnailsOfBooks', 'bookIds'],
  [
    'series',
    'several series',
    '/series/bulk/thumbnails',
    'generateThumbnailsOfSeries',
    'seriesIds',
  ],
  [
    'book',
    'all books of several series',
    '/series/bulk/thumbnails/books',
    'generateThumbnailsOfBooksOfSeries',
    'seriesIds',
  ],
]

const thumbnails = [
  ...(['book', 'series'] as const).map(of => {
    const plural = of === 'book' ? 'books' : 'series'
    return route(`POST /libraries/{id}/${plural}/thumbnails/generate`, {
      ...common,
      operationId:
        of === 'book' ? 'generateBookThumbnailsOfLibrary' : 'generateSeriesThumbnailsOfLibrary',
      permission: 'TasksWrite',
      summary: `Generate the cover thumbnails of the ${plural} of a library`,
      params: LibraryId,
      body: body('GenerateThumbnailsOfLibrary', { force }),
      bodyOptional: true,
      async handle({ params: { id }, body, viewer }, { sql, queue }) {
        const selection = await pathScopes['/libraries/{id}']({ sql, viewer, id })
        const options = { of, force: body.force === true }
        const work = await generateThumbnails({ sql, queue, viewer }, selection, options)
        return workStarted(work, 'thumbnails to be generated')
      },
    })
  }),
  ...manyThumbnails.map(thumbnailRoute),
]

function thumbnailRoute([of, subject, path, operationId, ids]: ManyThumbnails): Route {
  const properties: TProperties =
    ids === undefined
      ? {
          libraryId,
          seriesId: optional(uuid()),
          seriesIds: optional(seriesIds),
          bookIds: optional(bookIds),
        }
      : { [ids]: ids === 'bookIds' ? bookIds : seriesIds }
  const suffix = ids && `Of${ids === 'bookIds' ? 'Books' : 'Series'}`
  return route(`POST ${path}/generate`, {
    ...common,
    operationId,
    permission: 'TasksWrite',
    summary: `Generate the cover thumbnails of ${subject}`,
    description: ids === undefined ? 'For all of them, or only the ones listed.' : skipNote,
    body: body(`GenerateThumbnails${suffix ?? ''}`, { ...properties, force }),
    ...(ids === undefined ? { bodyOptional: true as const } : {}),
    async handle({ body, viewer }, { sql, queue }) {
      const { force, seriesId, ...named } = body as ThumbnailBody
      const seriesIds = seriesId ? [seriesId] : (named.seriesIds ?? undefined)
      const selection = {
        ...{ seriesIds, bookIds: named.bookIds ?? undefined },
        libraryId: named.libraryId ?? undefined,
      }
      const options = { of, force: force === true }
      const work = await generateThumbnails({ sql, queue, viewer }, selection, options)
      return workStarted(work, 'thumbnails to be generated')
    },
  })
}

type ThumbnailBody = {
  force?: boolean | null
  libraryId?: string | null
  seriesId?: string | null
  seriesIds?: string[] | null
  bookIds?: string[] | null
}

const renumberNote =
  'Their files are read again, and their numbers follow the number strategy of the library.'
const renumber = [
  route('POST /series/{id}/renumber', {
    ...common,
    operationId: 'renumberSeries',
    permission: 'SeriesWrite',
    summary: 'Renumber the books of a series',
    description: renumberNote,
    params: SeriesId,
    async handle({ params: { id }, viewer }, { sql, queue }) {
      const selection = await pathScopes['/series/{id}']({ sql, viewer, id })
      const work = await analyzeMany({ sql, queue, viewer }, selection)
      return workStarted(work, 'books to be numbered')
    },
  }),
  route('POST /series/bulk/renumber', {
    ...common,
    operationId: 'renumberSeveralSeries',
    permission: 'SeriesWrite',
    summary: 'Renumber the books of several series',
    description: `${renumberNote} ${skipNote}`,
    body: SeriesIds,
    async handle({ body, viewer }, { sql, queue }) {
      const work = await analyzeMany({ sql, queue, viewer }, body)
      return workStarted(work, 'books to be numbered')
    },
  }),
]

const titleNote =
  'The title rules of the library are applied to the folder name. Titles that are locked, set by a user or stated by the files do not change.'
const titleSubjects = [
  ['/series/{id}', 'title', 'reprocessSeriesTitle', 'SeriesWrite', SeriesId],
  ['/libraries/{id}', 'series/titles', 'reprocessTitlesOfLibrary', 'LibrariesWrite', LibraryId],
] as const satisfies [keyof typeof pathScopes, string, string, Permission, object][]
const titles = [
  ...titleSubjects.map(([path, what, operationId, permission, params]) =>
    route(`POST ${path}/${what}/reprocess`, {
      ...common,
      ...{ operationId, permission, params },
      summary: `Reapply the title rules to ${what === 'title' ? 'a series' : 'all series of a library'}`,
      description: titleNote,
      body: body('ReprocessTitle', { dryRun }),
      bodyOptional: true,
      async handle({ params: { id }, body, viewer, signal }, { sql, queue }) {
        const selection = await pathScopes[path]({ sql, viewer, id })
        const options = { dryRun: body.dryRun === true, signal }
        const work = await reprocessTitles({ sql, queue, viewer }, selection, options)
        return workStarted(work, 'titles to be changed')
      },
    }),
  ),
  ...(['/series/bulk/titles/reprocess', '/series/titles/reprocess'] as const).map(path =>
    route(`POST ${path}`, {
      ...common,
      operationId: path.includes('bulk') ? 'reprocessTitlesOfSeries' : 'reprocessTitles',
      permission: 'SeriesWrite',
      summary: 'Reapply the title rules to several series',
      description: `${titleNote} ${skipNote}`,
      body: body(
        path.includes('bulk') ? 'ReprocessTitlesOfSeries' : 'ReprocessTitles',
        path.includes('bulk')
          ? { seriesIds, dryRun }
          : { libraryId, seriesIds: optional(seriesIds), dryRun },
      ),
      async handle({ body, viewer, signal }, { sql, queue }) {
        const { dryRun, ...named } = body as ThumbnailBody & { dryRun?: boolean | null }
        const selection = {
          libraryId: named.libraryId ?? undefined,
          seriesIds: named.seriesIds ?? undefined,
        }
        const options = { dryRun: dryRun === true, signal }
        const work = await reprocessTitles({ sql, queue, viewer }, selection, options)
        return workStarted(work, 'titles to be changed')
      },
    }),
  ),
]

export const workOnMany = [...thumbnails, ...renumber, ...titles]
