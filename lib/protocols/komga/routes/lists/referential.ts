// Lists of metadata values in the Komga-compatible API: genres, tags, authors and so on, as arrays (v1) and pages (v2).

import { list, maybe, oneOf, record, type TSchema, Type, text } from '../../../../base/schema.ts'
import { type Route, route } from '../../../../http/route.ts'
import { searchKey } from '../../../../media/name/text.ts'
import type { WithServices } from '../../../../store/services.ts'
import {
  type AuthorEntry,
  authorsOfCredits,
  type Referential,
  type ReferentialScope,
  referentialValues,
} from '../../referential.ts'
import { Author, type Reader, readerOf } from '../../values.ts'
import { pageOf, pageOfAll, pageQuery, pageRequest } from '../http/paging.ts'
import { listParameter } from '../http/read-request.ts'

const ids = () => listParameter(Type.String())
const scopeQuery = {
  library_id: ids(),
  collection_id: ids(),
  series_id: ids(),
  readlist_id: ids(),
}
const query = {
  ...scopeQuery,
  search: maybe(text(500)),
  role: maybe(text(200)),
  include: maybe(oneOf(['SERIES', 'BOOK', 'BOTH'])),
}
type Query = {
  library_id?: string[] | undefined
  collection_id?: string[] | undefined
  series_id?: string[] | undefined
  readlist_id?: string[] | undefined
  search?: string | undefined
  role?: string | undefined
  include?: 'SERIES' | 'BOOK' | 'BOTH' | undefined
}

const scopeOf = (query: Query): ReferentialScope => ({
  libraryIds: query.library_id,
  collectionIds: query.collection_id,
  seriesIds: query.series_id,
  readListIds: query.readlist_id,
})

/** Whether a value contains the search text, ignoring case and accents. */
function matcherOf({ search = '' }: Query): (value: string) => boolean {
  const key = searchKey(search.trim())
  return value => key === '' || searchKey(value).includes(key)
}

type ListRequest = { db: WithServices; reader: Reader; query: Query }
type Values<T> = (request: ListRequest) => Promise<T[]>

const valuesOf =
  (namesOf: (query: Query) => readonly Referential[]): Values<string> =>
  async ({ db, reader, query }) => {
    const values = await referentialValues(db, reader, namesOf(query), scopeOf(query))
    return values.filter(matcherOf(query))
  }

const authors: Values<AuthorEntry> = async ({ db, reader, query }) =>
  authorsOfCredits(await referentialValues(db, reader, ['credits'], scopeOf(query)), {
    ...{ contains: matcherOf(query), role: query.role?.toLowerCase() },
  })
const unique = (values: readonly string[]) => [...new Set(values)]
const authorNames: Values<string> = async request =>
  unique((await authors(request)).map(({ name }) => name))
const roles: Values<string> = async request =>
  unique(
    (await authors({ ...request, query: { ...request.query, search: '' } })).map(a => a.role),
  ).sort()

const years: Values<string> = async request =>
  (await valuesOf(() => ['releaseYears'])(request)).sort((a, b) => Number(b) - Number(a))
const ageRatings: Values<string> = async request =>
  (await valuesOf(() => ['ageRatings'])(request)).sort((a, b) => ageOf(a) - ageOf(b))
/** `None` sorts first. */
const ageOf = (value: string) => (value === 'None' ? -1 : Number(value))

const tagsOf = ({ include = 'BOTH' }: Query): Referential[] =>
  include === 'BOTH'
    ? ['seriesTags', 'bookTags']
    : [include === 'SERIES' ? 'seriesTags' : 'bookTags']

type Definition<T> = {
  path: string
  /** Operation ids of v1 and v2. */
  v1?: string
  v2?: string
  summary: string
  item: TSchema
  values: Values<T>
}

const texts = { item: Type.String() }
const definitions: Definition<unknown>[] = [
  {
    ...{ path: '/genres', v1: 'getGenres_1', v2: 'getGenres', summary: 'Genres', ...texts },
    values: valuesOf(() => ['genres']),
  },
  {
    ...{ path: '/tags', v1: 'getTags_1', v2: 'getTags', summary: 'Tags', ...texts },
    values: valuesOf(tagsOf),
  },
  {
    ...{ path: '/tags/series', v1: 'getSeriesTags', summary: 'Tags of series', ...texts },
    values: valuesOf(() => ['seriesTags']),
  },
  {
    ...{ path: '/tags/book', v1: 'getBookTags', summary: 'Tags of books', ...texts },
    values: valuesOf(() => ['bookTags']),
  },
  {
    ...{ path: '/publishers', v1: 'getPublishers_1', v2: 'getPublishers' },
    ...{ summary: 'Publishers', ...texts, values: valuesOf(() => ['publishers']) },
  },
  {
    ...{ path: '/languages', v1: 'getLanguages_1', v2: 'getLanguages' },
    ...{ summary: 'Languages', ...texts, values: valuesOf(() => ['languages']) },
  },
  {
    ...{ path: '/sharing-labels', v1: 'getSharingLabels_1', v2: 'getSharingLabels' },
    ...{ summary: 'Sharing labels', ...texts, values: valuesOf(() => ['sharingLabels']) },
  },
  {
    ...{ path: '/age-ratings', v1: 'getAgeRatings_1', summary: 'Age ratings', ...texts },
    values: ageRatings,
  },
  {
    ...{ path: '/age-ratings', v2: 'getAgeRatings', summary: 'Age ratings' },
    item: Type.Integer(),
    values: async request =>
      (await ageRatings(request)).filter(value => value !== 'None').map(Number),
  },
  {
    ...{ path: '/series/release-dates', v1: 'getSeriesReleaseDates', summary: 'Years of release' },
    ...{ ...texts, values: years },
  },
  {
    ...{ path: '/series/release-years', v2: 'getSeriesReleaseYears', summary: 'Years of release' },
    ...{ ...texts, values: years },
  },
  {
    ...{ path: '/authors', v1: 'getAuthorsDeprecated', v2: 'getAuthors', summary: 'Authors' },
    ...{ item: Author, values: authors },
  },
  {
    ...{ path: '/authors/names', v1: 'getAuthorsNames_1', v2: 'getAuthorsNames' },
    ...{ summary: 'Names of authors', ...texts, values: authorNames },
  },
  {
    ...{ path: '/authors/roles', v1: 'getAuthorsRoles_1', v2: 'getAuthorsRoles' },
    ...{ summary: 'Roles of authors', ...texts, values: roles },
  },
]

const common = { permission: 'SeriesRead', cost: 'list' } as const

export const referential: Route[] = definitions.flatMap(
  ({ path, v1, v2, summary, item, values }): Route[] => [
    ...(v1
      ? [
          route(`GET ${path}`, {
            ...{ ...common, operationId: v1, summary },
            query: record(query),
            responses: { 200: list(item) },
            handle: (input, db) =>
              values({ db, reader: readerOf(input), query: input.query }) as never,
          }),
        ]
      : []),
    ...(v2
      ? [
          route(`GET /api/v2${path}`, {
            ...{ ...common, operationId: v2, atRoot: true, summary },
            query: record({ ...query, ...pageQuery }),
            responses: { 200: pageOf(item) },
            async handle(input, db) {
              const all = await values({ db, reader: readerOf(input), query: input.query })
              return pageOfAll(pageRequest(input.query), all) as never
            },
          }),
        ]
      : []),
  ],
)
