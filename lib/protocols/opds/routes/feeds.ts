// OPDS feeds: each shelf as Atom below /opds/v1 (OPDS 1.2) and as JSON below /opds/v2 (OPDS 2.0).
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../../accounts/identify.ts'
import { type Viewer, visibleLibrary } from '../../../accounts/viewer.ts'
import { bytes, record } from '../../../base/schema.ts'
import { missingPermission } from '../../../http/authorize.ts'
import { pageQuery, paging } from '../../../http/pagination.ts'
import { type AccessRequirement, type Route, respond, route } from '../../../http/route.ts'
import { newestSeriesChange } from '../../../list/newest-change.ts'
import type { Sql } from '../../../store/postgres/db.ts'
import type { WithServices } from '../../../store/services.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import type { OpdsVersion } from '../../publication/catalog-path.ts'
import { createApiLinks, createLinks } from '../../publication/links.ts'
import { feedType } from '../../publication/media-types.ts'
import { publicationById } from '../../publication/publication.ts'
import { atomFeed } from '../atom/feed.ts'
import type { FeedContext } from '../feed.ts'
import { jsonFeed } from '../json/feed.ts'
import type { Shelf, ShelfRequest } from '../shelf/shelf.ts'
import { catalogOf, inCatalog } from './protocol.ts'

/** Permissions for every feed: feeds show libraries, series and books. */
export const browsePermission = {
  all: ['LibrariesRead', 'SeriesRead'],
  any: ['BooksRead'],
} as const satisfies AccessRequirement

export const atomType = 'application/atom+xml;charset=utf-8'

export function shelfRoutes(shelf: Shelf): Route[] {
  return ([1, 2] as const).flatMap(version =>
    shelf.onlyVersion === undefined || shelf.onlyVersion === version
      ? [feedRoute(shelf, version)]
      : [],
  )
}

function feedRoute(shelf: Shelf, version: OpdsVersion): Route {
  const root = version === 1 ? '/catalog' : ''
  const { load } = shelf
  return route(`GET /opds/v${version}${shelf.path || root}`, {
    operationId: `getOpds${version}${feedName(shelf.path)}Feed`,
    ...inCatalog,
    permission: browsePermission,
    summary: `${shelf.summary} (${version === 1 ? 'OPDS 1.2' : 'OPDS 2.0'})`,
    ...(shelf.params ? { params: record(shelf.params) } : {}),
    query: record({ ...pageQuery, ...shelf.query }),
    responses: { 200: bytes(version === 1 ? 'application/atom+xml' : feedType) },
    cost: 'list',
    async handle({ params = {}, query, viewer, identity, request }, deps) {
      const { page, pageSize } = paging(query)
      const { sql, services } = deps
      const shelfRequest = { sql, services, viewer, version, params, query, page, pageSize }
      const [feed, context] = await Promise.all([
        load(shelfRequest as ShelfRequest),
        feedContext(request, identity, deps),
      ])
      return version === 1
        ? respond(200, atomFeed(feed, context), { 'content-type': atomType })
        : respond(200, JSON.stringify(jsonFeed(feed, context)), { 'content-type': feedType })
    },
  })
}

/** `/libraries/{id}/browse` becomes `LibrariesByIdBrowse`. */
const feedName = (path: string) =>
  path === ''
    ? 'Root'
    : path
        .replace('{id}', 'by-id')
        .split(/[/-]/)
        .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
        .join('')

type BookInput = { params: { id: string }; identity: Identity; request: FastifyRequest }

/** A visible book, and the context to write it. Throws NotFound. */
export const bookInContext = ({ params, identity, request }: BookInput, deps: WithServices) =>
  Promise.all([
    publicationById(deps.sql, identity.viewer, params.id),
    feedContext(request, identity, deps),
  ])

/** Links based on the request path, and the caller's permissions. */
async function feedContext(
  request: FastifyRequest,
  identity: Identity,
  { sql, services }: WithServices,
): Promise<FeedContext> {
  const [serverName, updatedAt] = await Promise.all([
    services(openSettings).cached('application.name'),
    catalogUpdatedAt(sql, identity.viewer),
  ])
  return {
    links: linksOf(request),
    serverName: String(serverName),
    catalogUpdatedAt: updatedAt,
    allows: {
      pageStreaming: missingPermission(identity, 'PagesRead') === null,
      progressSync: missingPermission(identity, { any: ['ProgressWrite', 'BooksWrite'] }) === null,
    },
  }
}

/** When a visible series last changed, otherwise when a library did; 1970 if there are none. */
async function catalogUpdatedAt(sql: Sql, viewer: Viewer): Promise<Date> {
  const newest = await newestSeriesChange(sql, viewer)
  if (newest !== null) return newest
  const [row] = await sql<{ updatedAt: Date | null }[]>`
    select max(l.updated_at) as "updatedAt" from library l where ${visibleLibrary(sql, viewer)}`
  return row?.updatedAt ?? new Date(0)
}

/** Links below the catalog path of the request, or those of the API. */
export function linksOf(request: FastifyRequest) {
  const catalog = catalogOf(request)
  return catalog === null ? createApiLinks(request.base) : createLinks(request.base, catalog)
}
