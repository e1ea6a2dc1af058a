// Import and export of read lists as CBL files (ComicRack).
import type { Viewer } from '../../accounts/viewer.ts'
import {
  bytes,
  component,
  count,
  list,
  maybe,
  name,
  nullable,
  oneOf,
  record,
  Type,
  uuid,
} from '../../base/schema.ts'
import { document, element, text as textElement } from '../../base/xml-writer.ts'
import { fromVisibleBooks } from '../../catalog/book/visible-books.ts'
import { withUpload } from '../../catalog/cover/routes/cover-upload.ts'
import { attachment } from '../../download/file.ts'
import { longListJson } from '../../http/exchange.ts'
import { ReadListId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import type { WithServices } from '../../store/services.ts'
import { booksOfReadList } from '../grouping/contents.ts'
import { maxMembers } from '../grouping/members.ts'
import { importCbl } from '../read-list/import-cbl.ts'

const matches = ['exact', 'alternative', 'missing'] as const
const MatchedBook = component('CblBook', {
  id: uuid(),
  title: Type.String(),
  number: nullable(Type.String()),
  seriesId: uuid(),
  seriesTitle: Type.String(),
  year: nullable(Type.Integer()),
})
const Entry = component('CblEntry', {
  position: count({ description: 'Position in the file, starting at 1.' }),
  series: Type.String(),
  number: Type.String(),
  volume: nullable(Type.Integer()),
  year: nullable(Type.Integer()),
  match: oneOf(matches, {
    description:
      '`exact`: series, number and volume or year match, or an id does. `alternative`: the best of several, or a different volume or name. `missing`: no match.',
  }),
  book: nullable(MatchedBook),
  others: list(MatchedBook, { description: 'Up to 6 other books of that name and number.' }),
})
const CblReport = component('CblReport', {
  name: Type.String(),
  readListId: nullable(uuid({ description: 'Null when no read list was created.' })),
  exact: count(),
  alternative: count(),
  missing: count(),
  entries: list(Entry),
})

export const cbl = [
  route('POST /readlists/import', {
    operationId: 'importReadList',
    permission: { all: ['BooksRead'], any: ['ReadListsWrite'] },
    cost: 'list',
    summary: 'Import a read list from a CBL file',
    description:
      'Matches each entry with the books that the caller sees, by series name, volume year and number, and creates a read list of the matching books in the same order. Every entry is reported.',
    query: record({
      name: maybe(name(200, { description: 'Replaces the name in the file.' })),
      dryRun: maybe(Type.Boolean({ description: 'Whether to only report, creating nothing.' })),
      alternatives: maybe(
        Type.Boolean({ default: true, description: 'Whether alternative matches are included.' }),
      ),
    }),
    multipart: { description: 'The CBL file as part `file`, or as the body itself.', isXml: true },
    responses: { 201: CblReport, 200: CblReport },
    handle: ({ query, viewer, request, signal }, { sql, config }) => {
      const maxBodyBytes = config.api.upload_mb * 1024 * 1024
      const upload = { request, accountId: viewer.accountId, signal, maxBodyBytes }
      return withUpload(upload, async file => {
        const { name, id, entries } = await importCbl(sql, viewer, file, {
          name: query.name,
          dryRun: query.dryRun ?? false,
          withAlternatives: query.alternatives ?? true,
          signal,
        })
        const numberOf = (match: (typeof matches)[number]) =>
          entries.filter(entry => entry.match === match).length
        const members = {
          ...{ name, readListId: id, exact: numberOf('exact') },
          ...{ alternative: numberOf('alternative'), missing: numberOf('missing') },
        }
        const report = entries.map(({ entry, match, book, others }, i) => ({
          position: i + 1,
          ...{ series: entry.series, number: entry.number, volume: entry.volume },
          ...{ year: entry.year, match, book, others },
        }))
        const stream = longListJson(members, { entries: report })
        const headers = { 'content-type': 'application/json; charset=utf-8' }
        return id === null ? respond(200, stream, headers) : respond(201, stream, headers)
      })
    },
  }),
  route('GET /readlists/{id}/cbl', {
    operationId: 'exportReadList',
    permission: { all: ['BooksRead'], any: ['ReadListsRead'] },
    summary: 'Export a read list as a CBL file',
    description: 'Contains the books that the caller sees. Importing it again gives the same list.',
    params: ReadListId,
    responses: { 200: bytes('application/xml') },
    async handle({ params, viewer, identity }, deps) {
      const withEmpty = identity.permissions.has('ReadListsWrite')
      const { name, books } = await exportedBooks(deps, viewer, { id: params.id, withEmpty })
      const entries = books.map(({ id, series, number, volume, year }) =>
        element(
          'Book',
          {
            ...{ Series: series, Number: number ?? '', Volume: volume ?? undefined },
            Year: year ?? undefined,
          },
          textElement('Id', id),
        ),
      )
      const xml = document(
        element(
          'ReadingList',
          {},
          textElement('Name', name),
          textElement('NumIssues', books.length),
          element('Books', {}, ...entries),
          element('Matchers', {}),
        ),
      )
      return respond(200, xml, {
        'content-type': 'application/xml;charset=utf-8',
        'content-disposition': attachment(`${name}.cbl`, params.id),
      })
    },
  }),
]

export type ExportedBook = {
  id: string
  series: string
  number: string | null
  /** Year of the series, otherwise the volume number. */
  volume: number | null
  year: number | null
}

/** The books that the viewer sees, in the order of the list. Throws NotFound. */
export async function exportedBooks(
  db: WithServices,
  viewer: Viewer,
  request: { id: string; withEmpty: boolean },
): Promise<{ name: string; books: ExportedBook[] }> {
  const { sql } = db
  const { ids, grouping } = await booksOfReadList(db, viewer, {
    ...{ ...request, page: 1, pageSize: maxMembers },
  })
  const books = await sql<ExportedBook[]>`
    select b.id, s.title as series, b.number, coalesce(s.year, b.volume) as volume, b.year
    ${fromVisibleBooks(sql, viewer, { ids })}`
  return { name: grouping.name, books: [...books] }
}
