// Fuzzing of the Komga-compatible API: its operations as a document with errors of Spring Boot, and search conditions.
import fc from 'fast-check'
import { komgaResources } from '../../../lib/api/komga/routes.ts'
import { openapiDocument } from '../../../lib/http/openapi/openapi.ts'
import type { Fixture } from '../../kit/fixture.ts'
import { createRandom } from '../../kit/random.ts'
import {
  bookTests,
  type KnownIds,
  randomTree,
  seriesTests,
} from '../../komga/search/random-trees.ts'

const string = { type: 'string' }
const strict = { type: 'object', additionalProperties: false }

/** Every error of the API: of Spring Boot, or the violations of a request. */
const errorBody = {
  anyOf: [
    {
      ...strict,
      required: ['timestamp', 'status', 'error', 'message', 'path'],
      properties: {
        timestamp: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' },
        status: { type: 'integer', minimum: 400 },
        ...{ error: string, message: string, path: { type: 'string', pattern: '^/komga/' } },
      },
    },
    {
      ...strict,
      required: ['violations'],
      properties: {
        violations: {
          type: 'array',
          minItems: 1,
          items: {
            ...{ ...strict, required: ['fieldName', 'message'] },
            properties: { fieldName: string, message: string },
          },
        },
      },
    },
  ],
}

const sortNames = [
  ...['metadata.titleSort', 'name', 'created', 'lastModified', 'booksMetadata.releaseDate'],
  ...['readDate', 'booksCount', 'collection.number', 'random', 'relevance', 'series'],
  ...['fileLastModified', 'fileSize', 'fileHash', 'url', 'media.status', 'media.comment'],
  ...['media.mediaType', 'media.pagesCount', 'metadata.title', 'metadata.numberSort'],
  ...['metadata.releaseDate', 'readProgress.lastModified', 'readList.number', 'none'],
]

const optional = { requiredKeys: [] }
const settings = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,8}(?:\.[a-z0-9]{1,8}){0,2}$/),
  fc.record({ value: fc.string(), allowUnauthorized: fc.boolean() }),
  { maxKeys: 3 },
)

/** Options of the fuzzer for the API of a fixture in which it is enabled. */
export function komgaFuzzOptions({ base, ids }: Pick<Fixture, 'base' | 'ids'>) {
  const idsOf = (name: string) => ids(`/${name}/{id}`, 'id')
  const known: KnownIds = {
    libraries: idsOf('libraries'),
    series: idsOf('series').map(id => ({ id })),
    collections: new Map(idsOf('collections').map(id => [id, null])),
    readLists: new Map(idsOf('readlists').map(id => [id, null])),
  }
  const search = (tests: ReturnType<typeof seriesTests>) =>
    fc.record(
      {
        condition: fc.nat().map(seed => randomTree(createRandom(seed), tests)),
        fullTextSearch: fc.constantFrom(
          null,
          '',
          'alpha',
          'title:al*',
          '"a b" OR NOT -c',
          '((',
          '*',
        ),
      },
      optional,
    )
  const series = search(seriesTests(known))
  return {
    document: documentOf({
      ...queryValues,
      library_id: known.libraries,
      series_id: idsOf('series'),
      collection_id: idsOf('collections'),
      readlist_id: idsOf('readlists'),
    }),
    base: `${base}/komga`,
    ids,
    bodies: {
      getSeries: series,
      getSeriesAlphabeticalGroups: series,
      getBooks: search(bookTests(known)),
      updateBookMetadataByBatch: fc.dictionary(
        fc.constantFrom(...idsOf('books')),
        fc.record({ title: fc.string(), summary: fc.string(), numberSort: fc.float() }, optional),
        { maxKeys: 3 },
      ),
      addUser: fc.record({
        email: fc.emailAddress(),
        password: fc.constantFrom('Strong-pass-1', 'short'),
      }),
      saveGlobalSetting: settings,
      saveUserSetting: settings,
    },
  }
}

/** Values of query parameters that their schemas do not describe. */
const queryValues = {
  sort: sortNames.flatMap(name => [name, `${name},desc`]),
  age_rating: ['12', 'None'],
  release_year: ['2020', '1990'],
  author: ['Ana Author', 'Ana Author,writer', 'x,'],
  search_regex: ['^al,TITLE', '[,TITLE_SORT', 'ha$,title_sort'],
  released_after: ['1990-01-01', '2020-01-01'],
}

type Json = Record<string, unknown>
type Operation = { parameters?: { name: string; description?: string; schema: Json }[] }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json> }
}

function documentOf(queries: Record<string, string[]>) {
  const all = openapiDocument(komgaResources, '1') as Document
  const document = withoutAliases(all) as Document
  const { schemas } = document.components
  Object.assign(schemas, { Error: errorBody, RateLimit: errorBody })
  // The stream never ends: reading it takes longer than all other requests.
  delete document.paths['/sse/v1/events']
  for (const operation of Object.values(document.paths).flatMap(Object.values) as Operation[])
    for (const parameter of operation.parameters ?? [])
      if (Object.hasOwn(queries, parameter.name)) {
        const values = { type: 'string', enum: queries[parameter.name] }
        parameter.schema = { anyOf: [values, values, values, parameter.schema] }
      }
  return document
}

/** A copy without the other names of properties: a body with both names is refused. */
function withoutAliases(node: unknown): unknown {
  if (Array.isArray(node)) return node.filter(item => !isAlias(item)).map(withoutAliases)
  if (typeof node !== 'object' || node === null) return node
  const members = Object.entries(node).filter(([, value]) => !isAlias(value))
  return Object.fromEntries(members.map(([key, value]) => [key, withoutAliases(value)]))
}

const isAlias = (node: unknown) =>
  typeof node === 'object' &&
  node !== null &&
  'description' in node &&
  String(node.description).startsWith('Same as `')
