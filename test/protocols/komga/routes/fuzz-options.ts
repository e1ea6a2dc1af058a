// Fuzzing of the Komga-compatible API: its operations as a document with errors of Spring Boot, and search conditions.
import fc from 'fast-check'
import { komgaResources } from '../../../../lib/api/komga.ts'
import { openapiDocument } from '../../../../lib/http/openapi/openapi.ts'
import { insertApiKey } from '../../../kit/accounts.ts'
import { png } from '../../../kit/files/archives.ts'
import type { Fixture } from '../../../kit/fixture.ts'
import { createRandom } from '../../../kit/random.ts'
import { bookTests, type KnownIds, randomTree, seriesTests } from '../search/random-trees.ts'

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

type World = Pick<Fixture, 'base' | 'ids' | 'sql' | 'admin'>

/** Options of the fuzzer for the API of a fixture in which it is enabled; adds what operations need to succeed. */
export async function komgaFuzzOptions(world: World) {
  const { base } = world
  const ids = await fittingIds(world)
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
      updateBookReadProgress: fc.record(
        { page: fc.integer({ min: 1, max: 3 }), completed: fc.boolean() },
        optional,
      ),
      ...{ updateBookProgression: progression, updateOpds2Progression: progression },
    },
    forms: Object.fromEntries([
      ...['Book', 'Series', 'Collection', 'ReadList'].map(name => [
        `addUserUploaded${name}Thumbnail`,
        form,
      ]),
      ['matchComicRackList', list],
    ]),
    headers,
  }
}

const malformed = fc.constantFrom(
  '',
  '--x',
  '--x\r\n\r\n--x--',
  '--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--',
)
const junk = fc.constantFrom<string | Uint8Array>('text', new Uint8Array(3), png(1))
const form = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        file: fc.integer({ min: 20, max: 60 }).map(size => png(size) as Uint8Array),
        selected: fc.constantFrom('true', 'false', 'FALSE', ''),
      },
      { requiredKeys: ['file'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ file: junk }) },
  { weight: 1, arbitrary: fc.record({ other: junk }) },
  { weight: 1, arbitrary: malformed },
)
const cbl = (books: string) =>
  Buffer.from(`<ReadingList><Name>L</Name><Books>${books}</Books></ReadingList>`)
const list = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom('', '<Book Series="Alpha" Number="1"/>', '<Book Series="" Number=""/><Book/>')
      .map(books => ({ file: cbl(books) })),
  },
  { weight: 1, arbitrary: fc.record({ file: junk }) },
  { weight: 1, arbitrary: malformed },
)

const progression = fc.record({
  modified: fc.constantFrom('2020-01-01T00:00:00Z', '2026-01-02T00:00:00.123+02:00'),
  device: fc.constant({ id: 'd', name: 'Reader' }),
  locator: fc.record({
    href: fc.constantFrom('OPS/text/one.xhtml', 'OPS/text/one.xhtml#a', 'nowhere'),
    type: fc.constant('application/xhtml+xml'),
    locations: fc.record({ progression: fc.double({ min: 0, max: 1, noNaN: true }) }),
  }),
})

/** Headers of requests for files and images, and of browsers. */
const headers = fc.record(
  {
    range: fc.constantFrom(
      'bytes=0-9',
      'bytes=-5',
      'bytes=5-',
      'bytes=9-2',
      'bytes=99999999-',
      'bytes=0-0,2-3',
      'pages=1',
    ),
    'if-range': fc.constantFrom('"x"', 'Thu, 01 Jan 1970 00:00:00 GMT', 'x'),
    'if-none-match': fc.constantFrom('*', '"x"', 'W/"x", "y"', 'x'),
    'if-modified-since': fc.constantFrom('Thu, 01 Jan 2099 00:00:00 GMT', 'x'),
    accept: fc.constantFrom(
      'image/*',
      'image/png;q=0.1',
      'application/divina+json',
      'text/html',
      '*/*;q=x',
    ),
    origin: fc.constantFrom('null', 'https://example.org', 'x'),
    'sec-fetch-site': fc.constantFrom('same-origin', 'cross-site', 'x'),
    'x-auth-token': fc.constantFrom('', 'x'.repeat(43), 'x'),
    cookie: fc.constantFrom(
      `KOMGA-SESSION=${'x'.repeat(43)}`,
      'KOMGA-SESSION=',
      'a=b;;=;KOMGA-SESSION',
    ),
  },
  optional,
)

/** Existing values of path parameters with which an operation can succeed. */
async function fittingIds({ base, sql, admin, ids }: World): Promise<World['ids']> {
  const posters = new Map<string, string[]>()
  const owners = ['books', 'series', 'collections', 'readlists']
  for (const name of owners) {
    const [owner] = ids(`/${name}/{id}`, 'id')
    const uploaded: string[] = []
    for (let size = 0; size < postersEach; size++) {
      const body = new FormData()
      body.set('file', new Blob([new Uint8Array(png(100 + size))]), 'poster.png')
      const url = `${base}/komga/api/v1/${name}/${owner}/thumbnails`
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'x-api-key': admin.key },
        body,
      })
      uploaded.push(((await response.json()) as { id: string }).id)
    }
    posters.set(name, uploaded)
  }
  await sql`update account set last_login_at = now()`
  const keys = await Promise.all(
    Array.from({ length: 10 }, async () => (await insertApiKey(sql, admin.id)).id),
  )
  const booksOf = async (format: string) =>
    (await sql<{ id: string }[]>`select id from book where format = ${format}`).map(row => row.id)
  const [texts, papers] = [await booksOf('epub'), await booksOf('pdf')]
  return (path, name) => {
    const owner = /\/(\w+)\/\{id\}\/thumbnails\/\{poster_id\}/.exec(path)?.[1]
    if (owner) return name === 'id' ? ids(path, 'id').slice(0, 1) : posters.get(owner)!
    if (name === 'keyId') return keys
    if (/manifest\/epub|positions|progression|\/resource\//.test(path) && name === 'id')
      return texts
    if (/manifest\/pdf/.test(path)) return papers
    if (/\/presets\//.test(path)) return ids('/filter-presets/{id}', 'id')
    return ids(path, name)
  }
}

const postersEach = 12

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
  Object.assign(schemas, { ErrorBody: errorBody, RateLimit: errorBody })
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
