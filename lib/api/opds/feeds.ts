// The feeds of both catalogues: each is found once and written as Atom or as JSON, below /opds/v1 and
// below /opds/v2.

import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../auth/identify.ts'
import { lacks } from '../../http/authorize.ts'
import type { Deps } from '../../http/deps.ts'
import { pageQuery, paging } from '../../http/pagination.ts'
import { answer, type Need, type Route, route } from '../../http/route.ts'
import { atomFeed } from '../../opds/atom/feed.ts'
import { lastChange } from '../../opds/changed.ts'
import { jsonFeed } from '../../opds/json/feed.ts'
import { feedType } from '../../opds/json/media.ts'
import { linksFrom } from '../../opds/links.ts'
import type { Asked, Shelf } from '../../opds/shelf/shelf.ts'
import type { Version } from '../../opds/tree.ts'
import type { Writing } from '../../opds/writing.ts'
import { bytes, record } from '../../schema.ts'
import { readSetting } from '../../setting/setting.ts'

/** What every feed needs: they show libraries, series and books alike. */
export const browsing = {
  all: ['LibrariesRead', 'SeriesRead'],
  any: ['BooksRead'],
} as const satisfies Need

export const atomType = 'application/atom+xml;charset=utf-8'

export function shelfRoutes(shelf: Shelf): Route[] {
  return ([1, 2] as const).flatMap(version =>
    shelf.only === undefined || shelf.only === version ? [feedRoute(shelf, version)] : [],
  )
}

function feedRoute(shelf: Shelf, version: Version): Route {
  const root = version === 1 ? '/catalog' : ''
  const { find } = shelf
  return route({
    method: 'GET',
    atRoot: true,
    catalogue: version,
    path: `/opds/v${version}${shelf.path || root}`,
    permission: browsing,
    summary: `${shelf.summary}, as ${version === 1 ? 'OPDS 1.2' : 'OPDS 2.0'}`,
    ...(shelf.params ? { params: record(shelf.params) } : {}),
    query: record({ ...pageQuery, ...shelf.query }),
    responses: { 200: bytes(version === 1 ? 'application/atom+xml' : feedType) },
    async handle({ params = {}, query, viewer, identity, request }, deps) {
      const { page, pageSize } = paging(query)
      const asked = { sql: deps.sql, viewer, version, params, query, page, pageSize }
      const [feed, writing] = await Promise.all([
        find(asked as Asked),
        writingFor(request, identity, deps),
      ])
      return version === 1
        ? answer(200, atomFeed(feed, writing), { 'content-type': atomType })
        : answer(200, JSON.stringify(jsonFeed(feed, writing)), { 'content-type': feedType })
    },
  })
}

/** Links as the request came, and what its sender may do. */
export async function writingFor(
  request: FastifyRequest,
  identity: Identity,
  { sql }: Pick<Deps, 'sql'>,
): Promise<Writing> {
  const [server, changed] = await Promise.all([
    readSetting(sql, 'application.name'),
    lastChange(sql, identity.viewer),
  ])
  return {
    links: linksOf(request),
    server: String(server),
    changed,
    may: {
      stream: lacks(identity, 'PagesRead') === null,
      sync: lacks(identity, { any: ['ProgressWrite', 'BooksWrite'] }) === null,
    },
  }
}

/** Links of the tree by which the request came. */
export function linksOf({ base, entered }: FastifyRequest) {
  return linksFrom(base, entered!)
}
