// Every GET of the OpenAPI documents of both APIs, with the ids of named records.

import { komgaResources } from '../../lib/api/komga.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import { openapi } from '../../test/kit/http/openapi.ts'
import { operationsOf } from '../../test/kit/http/operation.ts'
import type { Viewer } from './catalog.ts'
import type { Names } from './normal-form.ts'
import type { Request } from './request.ts'

/** Endless, about this process, or in the order of background work: not compared. */
const left =
  /stream$|\/events$|series\/updated$|metrics|\/health|actuator|\/tasks|scan-status|\/scans\/|drives|filesystem/
const books = [
  'Akira/Akira 01.cbz',
  'Formats/mixed.cbz',
  'Formats/words.epub',
  'Formats/fixed.epub',
  'Formats/report.pdf',
  'Formats/broken.cbz',
  'Hidden things/Hidden things 01.cbz',
]
const values: Record<string, string[]> = {
  libraries: ['{{libraries:The main one}}', '{{libraries:The second one}}'],
  series: ['{{series:Akira}}', '{{series:Long run}}', '{{series:Hidden things}}'],
  books: books.map(name => `{{books:${name}}}`),
  users: ['{{users:reader}}', '{{users:admin}}'],
  'api-keys': ['{{api-keys:pages}}'],
  'sharing-tags': ['{{sharing-tags:secret}}'],
  collections: ['{{collections:Chosen & <more>}}', '{{collections:All drama}}'],
  readlists: ['{{readlists:In order}}', '{{readlists:By date}}'],
  'filter-presets': ['{{filter-presets:Liked by recording-reader}}'],
  presets: ['{{filter-presets:Liked by recording-admin}}'],
  sources: ['{{sources:recorded}}'],
  releases: ['{{releases:Akira c7}}', '{{releases:Hidden things c7}}'],
  settings: ['application.name'],
  preferences: ['ui.theme', 'no.such'],
  pages: ['1', '2'],
  file: ['book.cbz'],
  resource: ['OPS/style.css', 'OPS/images/0.jpg'],
  progress: ['0123456789abcdef0123456789abcdef'],
}
/** Paths with values that belong together. */
const together: Record<string, string[]> = {
  '/api/v1/books/{id}/covers/{cover_id}/image': [
    '{{books:Akira/Akira 01.cbz}}',
    '{{covers:book custom}}',
  ],
  '/api/v1/series/{id}/covers/{cover_id}/image': ['{{series:Akira}}', '{{covers:series custom}}'],
}

export function documentRequests(names: Names): Request[] {
  const trees = [
    { base: '', document: openapi() },
    { base: '/komga', document: openapiDocument(komgaResources, '1') },
  ]
  return trees
    .flatMap(({ base, document }) =>
      operationsOf(document as never)
        .filter(({ method, path }) => method === 'GET' && !left.test(path))
        // The catalogs are the same below the other prefix.
        .filter(({ path }) => base === '' || !path.startsWith('/opds/v1'))
        .flatMap(({ path, parameters }) => {
          const isList = parameters.some(({ name }) => name === 'pageSize')
          const query = isList ? '?pageSize=50' : ''
          return filledPaths(path).flatMap(filled =>
            (['admin', 'reader'] as Viewer[]).map(as => ({
              as,
              method: 'GET',
              path: `${base}${filled}${query}`,
            })),
          )
        }),
    )
    .filter(({ path }) =>
      [...path.matchAll(/\{\{(.+?)\}\}/g)].every(([, name]) => names.ids.has(name!)),
    )
}

/** With each value of the first parameter, and the first of the others. */
function filledPaths(path: string): string[] {
  const fixed = together[path]
  if (fixed)
    return [
      fill(path, name => fixed[path.split('{').findIndex(p => p.startsWith(`${name}}`)) - 1]!),
    ]
  const [first] = /\{(\w+)\}/.exec(path) ?? []
  if (first === undefined) return [path]
  return valuesFor(path, first.slice(1, -1)).map(value =>
    fill(path.replace(first, value), name => valuesFor(path, name)[0] ?? 'none'),
  )
}

/** Replaces what is not yet a named record. */
const fill = (path: string, of: (name: string) => string) =>
  path.replace(/(?<!\{)\{(\w+)\}(?!\})/g, (_, name: string) => of(name))

function valuesFor(path: string, name: string): string[] {
  const segments = path
    .slice(0, path.indexOf(`{${name}}`))
    .split('/')
    .filter(Boolean)
  return values[segments.at(-1)!] ?? ['none']
}
