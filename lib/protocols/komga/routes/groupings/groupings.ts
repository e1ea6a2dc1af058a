// Collections and read lists of the Komga-compatible API: single ones and their changes, neighbors in a read
// list, and matching of ComicRack lists.
import type { Permission } from '../../../../accounts/permission.ts'
import type { Viewer } from '../../../../accounts/viewer.ts'
import { Conflict, Invalid, NotFound } from '../../../../base/errors.ts'
import { isUuid } from '../../../../base/id.ts'
import {
  component,
  list,
  name,
  nullable,
  optional,
  record,
  type Static,
  Type,
  text,
  uuid,
} from '../../../../base/schema.ts'
import { withUpload } from '../../../../catalog/cover/routes/cover-upload.ts'
import { longListJson } from '../../../../http/exchange.ts'
import { ReadListId } from '../../../../http/params.ts'
import { respond, route } from '../../../../http/route.ts'
import { readLists } from '../../../../organize/grouping/grouping.ts'
import { listGroupings } from '../../../../organize/grouping/list.ts'
import {
  createGrouping,
  deleteGrouping,
  updateGrouping,
} from '../../../../organize/grouping/write.ts'
import type { CblList } from '../../../../organize/read-list/cbl-file.ts'
import { readCbl } from '../../../../organize/read-list/import-cbl.ts'
import {
  type CblMatch,
  type MatchedBook,
  matchCbl,
} from '../../../../organize/read-list/match-cbl.ts'
import {
  idList,
  ofCollections,
  ofReadLists,
  type Signed,
} from '../../../../organize/routes/grouping-kind.ts'
import type { WithServices } from '../../../../store/services.ts'
import { BookDto, bookDto } from '../../book-dto.ts'
import { CollectionDto, collectionDtos, ReadListDto, readListDtos } from '../../grouping-dto.ts'
import { readListBooks } from '../../tracker-progress.ts'
import { dateOf, type Reader, readerOf } from '../../values.ts'

const Name = name(200)
const Summary = text(5000)
const ids = idList('Ids in order, without duplicates.')
const optionalIds = optional(idList('Ids in order, replacing all that the caller sees.'))
const optionalFlag = optional(Type.Boolean())

const kinds = [
  { ...ofCollections, item: CollectionDto, ...collectionDtos },
  { ...ofReadLists, item: ReadListDto, ...readListDtos },
]

type Change = {
  name?: string | null
  summary?: string | null
  ordered?: boolean | null
  seriesIds?: string[] | null
  bookIds?: string[] | null
}

const changes = kinds.flatMap(
  ({ grouping, one, noun, path, params, item, idsKey, read, write, remove, find, load }) => {
    const isReadList = one === 'ReadList'
    const creation = {
      ...{ name: Name, ordered: Type.Boolean(), [idsKey]: ids },
      ...(isReadList ? { summary: optional(Summary) } : {}),
    }
    const update = {
      ...{ name: optional(Name), ordered: optionalFlag, [idsKey]: optionalIds },
      ...(isReadList ? { summary: optional(Summary) } : {}),
    }
    const found = async (input: Signed, db: WithServices, id: string) =>
      (await find(db, mayFill(input, write), id)) as never
    return [
      route(`GET ${path}/{id}`, {
        operationId: `get${one}ById`,
        permission: read,
        cost: 'list',
        summary: `Get a ${noun}`,
        params,
        responses: { 200: item },
        handle: (input, deps) => found(input, deps, input.params.id),
      }),
      route(`POST ${path}`, {
        operationId: `create${one}`,
        permission: write,
        summary: `Create a ${noun}`,
        description: '400 for a name that already exists, and for duplicate ids.',
        body: component(`${one}CreationDto`, creation),
        responses: { 200: item },
        async handle(input, deps) {
          const change = changeOf(input.body as Change)
          const id = await createGrouping(deps.sql, input.viewer, grouping, change).catch(asInvalid)
          const [created] = await load(deps, readerOf(input), [id])
          return created as never
        },
      }),
      route(`PATCH ${path}/{id}`, {
        operationId: `update${one}ById`,
        permission: write,
        summary: `Update a ${noun}`,
        params,
        body: component(`${one}UpdateDto`, update),
        responses: { 204: null },
        async handle({ params: { id }, body, viewer }, { sql }) {
          const change = changeOf(body as Change)
          await updateGrouping(sql, viewer, grouping, { id, change }).catch(asInvalid)
        },
      }),
      route(`DELETE ${path}/{id}`, {
        operationId: `delete${one}ById`,
        permission: remove,
        summary: `Delete a ${noun}`,
        params,
        responses: { 204: null },
        handle: ({ params, viewer }, { sql }) => deleteGrouping(sql, viewer, grouping, params.id),
      }),
    ]
  },
)

const mayFill = (input: Signed, permission: Permission): Reader => ({
  viewer: input.viewer,
  isAdmin: input.identity.permissions.has(permission),
})

/** Throws Invalid for duplicate ids, NotFound for ids that cannot exist. */
function changeOf({ name, summary, ordered, seriesIds, bookIds }: Change) {
  const listed = seriesIds ?? bookIds
  if (listed?.some(id => typeof id !== 'string' || !isUuid(id)))
    throw new NotFound(`${seriesIds ? 'Series' : 'Book'} not found`)
  const memberIds = listed?.map(id => id.toLowerCase())
  if (memberIds && new Set(memberIds).size < memberIds.length)
    throw new Invalid('Ids must not contain duplicates')
  return {
    ...{ name: name ?? undefined, ordered: ordered ?? undefined, memberIds },
    summary: summary === undefined ? undefined : summary || null,
  }
}

/** Komga returns 400 where the native API returns 409. */
function asInvalid(error: unknown): never {
  if (error instanceof Conflict) throw new Invalid(error.message, { cause: error })
  throw error
}

const neighbors = (['next', 'previous'] as const).map(side =>
  route(`GET /readlists/{id}/books/{book_id}/${side}`, {
    operationId: `getBookSibling${side === 'next' ? 'Next' : 'Previous'}InReadList`,
    permission: { all: ['ReadListsRead'], any: ['BooksRead'] },
    summary: `Get the ${side} book of a read list`,
    description: '404 at the end of the list.',
    params: record({ ...ReadListId.properties, book_id: uuid() }),
    responses: { 200: BookDto },
    async handle(input, deps) {
      const { params } = input
      const { books } = await readListBooks(deps, readerOf(input), params.id)
      const place = books.findIndex(({ id }) => id === params.book_id)
      const neighbor = place < 0 ? undefined : books[place + (side === 'next' ? 1 : -1)]
      if (!neighbor) throw new NotFound(`There is no ${side} book`)
      return await bookDto(deps.sql, readerOf(input), neighbor.id)
    },
  }),
)

/** The books that match each entry of a ComicRack list. */
const MatchReport = component('ReadListRequestMatchDto', {
  readListMatch: component('ReadListMatchDto', { name: Type.String(), errorCode: Type.String() }),
  requests: list(
    component('ReadListRequestBookMatchesDto', {
      request: record({ series: list(Type.String()), number: Type.String() }),
      matches: list(
        record({
          series: record({
            seriesId: Type.String(),
            title: Type.String(),
            releaseDate: nullable(Type.String({ format: 'date' })),
          }),
          books: list(
            record({ bookId: Type.String(), number: Type.String(), title: Type.String() }),
          ),
        }),
      ),
    }),
  ),
  errorCode: Type.String(),
})

const match = route('POST /readlists/match/comicrack', {
  operationId: 'matchComicRackList',
  permission: { all: ['BooksRead'], any: ['ReadListsWrite'] },
  cost: 'list',
  summary: 'Match a ComicRack reading list with books',
  description: 'Creates nothing.',
  multipart: { description: 'The CBL file as part `file`.' },
  responses: { 200: MatchReport },
  handle: ({ viewer, request, signal }, deps) =>
    withUpload({ request, accountId: viewer.accountId, signal }, async file => {
      const cbl = await readCbl(file, signal)
      const matches = await matchCbl(deps.sql, viewer, cbl.entries)
      const { requests, ...members } = await matchReport(deps, viewer, cbl, matches)
      const headers = { 'content-type': 'application/json; charset=utf-8' }
      return respond(200, longListJson(members, { requests }), headers)
    }),
})

export const groupings = [...changes, ...neighbors, match]

/** Komga's code for a read list name that already exists. */
const nameExists = 'ERR_1009'

async function matchReport(
  db: WithServices,
  viewer: Viewer,
  { name, entries }: CblList,
  matches: readonly CblMatch[],
): Promise<Static<typeof MatchReport>> {
  const title = name ?? ''
  return {
    readListMatch: {
      name: title,
      errorCode: (await isTaken(db, viewer, title)) ? nameExists : '',
    },
    requests: entries.map(({ series, number }, i) => ({
      request: { series: [series], number },
      matches: bySeries(matches[i]!),
    })),
    errorCode: '',
  }
}

async function isTaken(db: WithServices, viewer: Viewer, name: string): Promise<boolean> {
  if (name === '') return false
  const { rows } = await listGroupings(db, viewer, readLists, {
    ...{ search: [name], withEmpty: true, page: 1, pageSize: 100 },
  })
  return rows.some(row => row.name.toLowerCase() === name.toLowerCase())
}

function bySeries({ book, others }: CblMatch) {
  const books = Map.groupBy([...(book ? [book] : []), ...others], ({ seriesId }) => seriesId)
  return [...books.values()].map((members: MatchedBook[]) => {
    const { seriesId, seriesTitle, year } = members[0]!
    return {
      series: { seriesId, title: seriesTitle, releaseDate: dateOf(year, null, null) },
      books: members.map(({ id, number, title }) => ({ bookId: id, number: number ?? '', title })),
    }
  })
}
