// Alternate titles of series, each with a label such as its language.
import type { Viewer } from '../../../accounts/viewer.ts'
import { Conflict, Invalid, NotFound } from '../../../base/errors.ts'
import { body, component, list, name, optional, record, text, uuid } from '../../../base/schema.ts'
import { SeriesId } from '../../../http/params.ts'
import { respond, route } from '../../../http/route.ts'
import { checkStorable, parseAlternateTitles } from '../../../media/metadata/user-input.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../../store/postgres/retry-on-deadlock.ts'
import {
  AlternateTitleRecord,
  contentOf,
  identifiedTitles,
  maxAlternateTitles,
  type StoredTitle,
} from '../../metadata/alternate-titles.ts'
import { lockSeriesRow, updateSeriesMetadata } from '../../metadata/series-metadata.ts'
import { alternateTitlesOf } from '../../metadata/series-metadata-record.ts'

const path = '/series/{id}/alternate-titles'
const label = text(200, { description: 'Such as the language; may be empty.' })
const title = name(1000)
const TitleId = record({
  ...SeriesId.properties,
  title_id: uuid({ description: 'Title id.' }),
})
const lockNote = 'The titles are locked against changes by scans.'

type Edit = { viewer: Viewer; seriesId: string }

/** Stores the result of `change`; unchanged titles are not written. */
async function edit(
  sql: Sql,
  { viewer, seriesId }: Edit,
  change: (titles: StoredTitle[]) => StoredTitle[],
): Promise<void> {
  await retryOnDeadlock(sql, async tx => {
    const series = await lockSeriesRow(tx, viewer, seriesId)
    const titles = change(series.alternateTitles)
    if (titles === series.alternateTitles) return
    if (titles.length > maxAlternateTitles)
      throw new Invalid(`The limit is ${maxAlternateTitles} alternate titles`, {
        limit: maxAlternateTitles,
      })
    await updateSeriesMetadata(tx, [series], () => new Map([['alternateTitles', titles]]))
  })
}

function requireTitle(titles: readonly StoredTitle[], id: string): StoredTitle {
  const title = titles.find(title => title.id === id.toLowerCase())
  if (!title) throw new NotFound('Alternate title not found')
  return title
}

export const alternateTitles = [
  route(`GET ${path}`, {
    operationId: 'listAlternateTitles',
    permission: 'SeriesRead',
    summary: 'List alternate titles of a series',
    params: SeriesId,
    responses: {
      200: component('AlternateTitleList', { titles: list(AlternateTitleRecord) }),
    },
    cost: 'record',
    handle: async ({ params, viewer }, { sql }) => ({
      titles: await alternateTitlesOf(sql, viewer, params.id),
    }),
  }),
  route(`POST ${path}`, {
    operationId: 'addAlternateTitle',
    permission: 'SeriesWrite',
    summary: 'Add an alternate title to a series',
    description: `200 if it already exists. ${lockNote}`,
    params: SeriesId,
    body: body('NewAlternateTitle', { label, title }),
    responses: { 201: AlternateTitleRecord, 200: AlternateTitleRecord },
    async handle({ params: { id: seriesId }, body, viewer }, { sql }) {
      checkStorable(body)
      const [added] = parseAlternateTitles([body], 'body')
      let stored: StoredTitle | undefined
      let isNew = false
      await edit(sql, { viewer, seriesId }, titles => {
        stored = titles.find(title => contentOf(title) === contentOf(added!))
        isNew = stored === undefined
        if (stored) return titles
        stored = identifiedTitles(titles, [added!])[0]!
        return [...titles, stored]
      })
      const response = { ...stored!, seriesId }
      return isNew ? respond(201, response) : respond(200, response)
    },
  }),
  route(`PATCH ${path}/{title_id}`, {
    operationId: 'updateAlternateTitle',
    permission: 'SeriesWrite',
    summary: 'Change an alternate title of a series',
    description: `Absent and null fields are unchanged. 409 if the series already has this title. ${lockNote}`,
    params: TitleId,
    body: body('AlternateTitleUpdate', {
      label: optional(label),
      title: optional(title),
    }),
    responses: { 200: AlternateTitleRecord },
    async handle({ params: { id: seriesId, title_id }, body, viewer }, { sql }) {
      checkStorable(body)
      let changed: StoredTitle | undefined
      await edit(sql, { viewer, seriesId }, titles => {
        const before = requireTitle(titles, title_id)
        const [after] = parseAlternateTitles(
          [{ label: body.label ?? before.label, title: body.title ?? before.title }],
          'body',
        )
        changed = before
        if (contentOf(after!) === contentOf(before)) return titles
        if (titles.some(title => contentOf(title) === contentOf(after!)))
          throw new Conflict('The series already has this alternate title', {
            reason: 'name_taken',
          })
        changed = { ...before, ...after!, updatedAt: new Date().toISOString() }
        return titles.map(title => (title === before ? changed! : title))
      })
      return { ...changed!, seriesId }
    },
  }),
  route(`DELETE ${path}/{title_id}`, {
    operationId: 'deleteAlternateTitle',
    permission: 'SeriesWrite',
    summary: 'Delete an alternate title of a series',
    description: lockNote,
    params: TitleId,
    responses: { 204: null },
    handle: ({ params: { id: seriesId, title_id }, viewer }, { sql }) =>
      edit(sql, { viewer, seriesId }, titles => {
        const deleted = requireTitle(titles, title_id)
        return titles.filter(title => title !== deleted)
      }),
  }),
]
