// Searches on metadata sources for series and books, and the list of the sources.
import {
  body,
  component,
  list,
  maybe,
  nullable,
  optional,
  record,
  Type,
  text,
} from '../../base/schema.ts'
import { ofBook, ofSeries, SeriesId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { isbn13 } from '../../media/metadata/isbn.ts'
import { BookHit, SeriesHit } from '../../sources/contract.ts'
import { enabledSources } from '../../sources/stored/source.ts'
import { bookQueryOf, matchContext, seriesQueryOf } from '../match-context.ts'
import { searchBooks, searchOwnBook, searchSeries } from '../matching.ts'
import { defaultMatching, matchingOf } from '../matching-settings.ts'
import { MetadataSourceList } from './match-schema.ts'
import { failures, matchDepsOf, matchSource, sourceId } from './request.ts'

const limit = maybe(Type.Integer({ minimum: 1, maximum: 50, default: 10 }))

export const searchRoutes = [
  route('GET /metadata/sources', {
    operationId: 'listMetadataSources',
    permission: 'SeriesRead',
    summary: 'List the metadata sources that can be searched',
    responses: { 200: MetadataSourceList },
    async handle(_input, { sql, sources }) {
      const rows = await enabledSources(sql)
      return {
        sources: rows.flatMap(row => {
          const { fetchSeries, fetchBook } = sources.open(row)
          const kinds = [
            ...(fetchSeries ? (['series'] as const) : []),
            ...(fetchBook ? (['book'] as const) : []),
          ]
          return kinds.length > 0 ? [{ ...row, kinds }] : []
        }),
      }
    },
  }),
  route('GET /series/{id}/metadata/search-title', {
    operationId: 'getSeriesSearchTitle',
    permission: 'SeriesRead',
    // For one series only.
    cost: 'record',
    summary: 'Get the text for searching a source for a series',
    description: 'Without a source, the text for a source without settings.',
    params: SeriesId,
    query: record({ sourceId: maybe(sourceId) }),
    responses: {
      200: component('SearchTitle', { title: Type.String(), searchTitle: Type.String() }),
    },
    async handle({ params: { id }, query, viewer }, { sql }) {
      const context = await matchContext(sql, viewer, { kind: 'series', id })
      const matching = query.sourceId ? await matchingOf(sql, query.sourceId) : defaultMatching
      const searchTitle = seriesQueryOf(context, matching, 1)?.query ?? ''
      return { title: context.series.metadata.title!, searchTitle }
    },
  }),
  route('POST /series/{id}/metadata/search', {
    operationId: 'searchSeriesMetadata',
    permission: ofSeries.write,
    summary: 'Search a source for a series',
    description:
      'Without a query, searches for the text of GET /series/{id}/metadata/search-title.',
    params: ofSeries.params,
    body: body('MetadataSearch', { sourceId, query: optional(text(500)), limit }),
    responses: {
      200: component('MetadataSearchResults', { query: Type.String(), results: list(SeriesHit) }),
      ...failures,
    },
    async handle({ params: { id }, body, viewer, signal }, deps) {
      const context = await matchContext(deps.sql, viewer, { kind: 'series', id })
      const source = await matchSource(deps, body.sourceId, signal)
      const own = seriesQueryOf(context, source.matching, 1)
      const query = body.query?.trim() || (own?.query ?? '')
      if (query === '') return { query, results: [] }
      const search = { query, limit: body.limit ?? 10 }
      const results = await searchSeries(matchDepsOf({ viewer, signal }, deps), source, search)
      return { query, results }
    },
  }),
  route('POST /books/{id}/metadata/search', {
    operationId: 'searchBookMetadata',
    permission: ofBook.write,
    summary: 'Search a source for a book',
    description:
      "By ISBN, and if the source does not know it, by title and author. Without any of them, searches for the book's own, the title by the template of the source.",
    params: ofBook.params,
    body: body('BookMetadataSearch', {
      sourceId,
      title: optional(text(500)),
      author: optional(text(500)),
      isbn: optional(text(100, { description: 'Ignored if it is not a valid ISBN.' })),
      limit,
    }),
    responses: {
      200: component('BookMetadataSearchResults', {
        title: Type.String({ description: 'What was searched for.' }),
        author: nullable(Type.String()),
        isbn: nullable(Type.String()),
        results: list(BookHit),
      }),
      ...failures,
    },
    async handle({ params: { id }, body, viewer, signal }, deps) {
      const context = await matchContext(deps.sql, viewer, { kind: 'book', id })
      const source = await matchSource(deps, body.sourceId, signal)
      const limit = body.limit ?? 10
      const given = {
        title: body.title?.trim() ?? '',
        author: body.author?.trim() || null,
        isbn: isbn13(body.isbn ?? ''),
      }
      const isGiven = given.title !== '' || given.isbn !== null
      const own = isGiven ? null : bookQueryOf(context, source.matching, limit)
      const request = own ?? { ...given, limit }
      if (request.title === '' && request.isbn === null) return { ...given, results: [] }
      const matchDeps = matchDepsOf({ viewer, signal }, deps)
      const { query, hits } = own
        ? await searchOwnBook(matchDeps, source, own)
        : { query: request, hits: await searchBooks(matchDeps, source, request) }
      const { title, author, isbn } = query
      return { title, author, isbn, results: hits }
    },
  }),
]
