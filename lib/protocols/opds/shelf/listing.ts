// Listings: ordered lists of books or series that are shelves of their own and whose first items are groups of a
// home. Each exists for the whole catalog and for each library.
import { maybe, uuid } from '../../../base/schema.ts'
import { type LibraryName, libraryName } from '../../../catalog/library/library.ts'
import { publicationsByIds } from '../../publication/publication.ts'
import {
  acquisitionFeed,
  type FeedKind,
  type FeedRef,
  type Group,
  navigationFeed,
} from '../feed.ts'
import { libraryRef, seriesEntries } from './entry.ts'
import { pagingOf, type Shelf, type ShelfRequest } from './shelf.ts'

type ListRequest = Pick<ShelfRequest, 'sql' | 'services' | 'viewer' | 'page' | 'pageSize'> & {
  libraryId?: string
}

/** A list of books (acquisition) or of series (navigation). */
export type Listing = {
  kind: FeedKind
  path: string
  title: string
  summary: string
  list: (request: ListRequest) => Promise<{ ids: string[]; total: number }>
  /** When the newest of its items last changed; null when it has none. If absent, the catalog's time is used. */
  updatedAt?: (request: ListRequest) => Promise<Date | null>
}

/** Limit for lists of new items: users do not page further, and late pages of a million books are slow. */
export const maxLatest = 1_000

/** The shelf of a listing, with an optional filter by library. */
export function listingShelf(listing: Listing): Shelf {
  const { path, summary } = listing
  return {
    path,
    summary,
    query: { libraryId: maybe(uuid({ description: 'Limits the list to this library.' })) },
    async load(request) {
      const { libraryId } = request.query
      const [library, { ids, total }] = await Promise.all([
        libraryId ? libraryName(request.sql, request.viewer, libraryId) : null,
        listing.list(toListRequest(request, libraryId)),
      ])
      const common = {
        ...refOf(listing, library),
        paging: pagingOf(request, total),
        ...(library ? { up: libraryRef(library) } : {}),
      }
      return listing.kind === 'acquisition'
        ? acquisitionFeed({ ...common, books: await loadBooks(request, ids) })
        : navigationFeed({ ...common, entries: await loadEntries(request, ids) })
    },
  }
}

/** Items of a group. */
export const groupSize = 8

/** The first items of a listing; null when it is empty. */
export async function groupOf(
  listing: Listing,
  request: ShelfRequest,
  library: LibraryName | null,
): Promise<Group | null> {
  const firstPage = { ...request, page: 1, pageSize: groupSize }
  const { ids, total } = await listing.list(toListRequest(firstPage, library?.id))
  const ref = { ...refOf(listing, library), total }
  const group: Group =
    listing.kind === 'acquisition'
      ? { ...ref, kind: 'acquisition', books: await loadBooks(request, ids) }
      : { ...ref, kind: 'navigation', entries: await loadEntries(request, ids) }
  const items = group.kind === 'acquisition' ? group.books : group.entries
  return items.length === 0 ? null : group
}

function refOf(
  { kind, path, title }: Listing,
  library: LibraryName | null,
): FeedRef & { query: object } {
  return library
    ? { kind, path, title: `${title} in ${library.name}`, query: { libraryId: library.id } }
    : { kind, path, title, query: {} }
}

function toListRequest(
  { sql, services, viewer, page, pageSize }: ShelfRequest,
  libraryId: string | undefined,
): ListRequest {
  return { sql, services, viewer, page, pageSize, ...(libraryId ? { libraryId } : {}) }
}

const loadBooks = ({ sql, viewer }: ShelfRequest, ids: string[]) =>
  publicationsByIds(sql, viewer, ids)

const loadEntries = (request: ShelfRequest, ids: string[]) => seriesEntries(request, ids)
