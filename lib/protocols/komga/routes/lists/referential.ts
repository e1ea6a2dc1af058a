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
type Query = { [K in keyof typeof scopeQuery]?: string[] | undefined } & {
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

const only = (name: Referential) => valuesOf(() => [name])

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
  (await only('releaseYears')(request)).sort((a, b) => Number(b) - Number(a))
const ageRatings: Values<string> = async request =>
  (await only('ageRatings')(request)).sort((a, b) => ageOf(a) - ageOf(b))
/** `None` sorts first. */
const ageOf = (value: string) => (value === 'None' ? -1 : Number(value))

const tagsOf = ({ include = 'BOTH' }: Query): Referential[] =>
  include === 'BOTH'
    ? ['seriesTags', 'bookTags']
    : [include === 'SERIES' ? 'seriesTags' : 'bookTags']

type Definition<T> = {
  path: string
  /** Operation ids of v1 and v2. */
  operations: { v1?: string; v2?: string }
  summary: string
  item: TSchema
  values: Values<T>
}

const listed = (
  path: string,
  operations: Definition<string>['operations'],
  summary: string,
  values: Values<string>,
): Definition<unknown> => ({ path, operations, summary, item: Type.String(), values })

const both = (name: string) => ({ v1: `${name}_1`, v2: name })

const definitions: Definition<unknown>[] = [
  listed('/genres', both('getGenres'), 'Genres', only('genres')),
  listed('/tags', both('getTags'), 'Tags', valuesOf(tagsOf)),
  listed('/tags/series', { v1: 'getSeriesTags' }, 'Tags of series', only('seriesTags')),
  listed('/tags/book', { v1: 'getBookTags' }, 'Tags of books', only('bookTags')),
  listed('/publishers', both('getPublishers'), 'Publishers', only('publishers')),
  listed('/languages', both('getLanguages'), 'Languages', only('languages')),
  listed('/sharing-labels', both('getSharingLabels'), 'Sharing labels', only('sharingLabels')),
  listed('/age-ratings', { v1: 'getAgeRatings_1' }, 'Age ratings', ageRatings),
  {
    ...{ path: '/age-ratings', operations: { v2: 'getAgeRatings' }, summary: 'Age ratings' },
    item: Type.Integer(),
    values: async request =>
      (await ageRatings(request)).filter(value => value !== 'None').map(Number),
  },
  listed('/series/release-dates', { v1: 'getSeriesReleaseDates' }, 'Years of release', years),
  listed('/series/release-years', { v2: 'getSeriesReleaseYears' }, 'Years of release', years),
  {
    ...{ path: '/authors', operations: { v1: 'getAuthorsDeprecated', v2: 'getAuthors' } },
    ...{ summary: 'Authors', item: Author, values: authors },
  },
  listed('/authors/names', both('getAuthorsNames'), 'Names of authors', authorNames),
  listed('/authors/roles', both('getAuthorsRoles'), 'Roles of authors', roles),
]

const common = { permission: 'SeriesRead', cost: 'list' } as const

export const referential: Route[] = definitions.flatMap(
  ({ path, operations: { v1, v2 }, summary, item, values }): Route[] => [
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
