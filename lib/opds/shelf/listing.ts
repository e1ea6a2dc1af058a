// Lists that are shelves of their own and, some items of them, groups of a home: of the whole
// catalogue or of one library.
import { type LibraryName, libraryName } from '../../catalog/library/library-browse.ts'
import { seriesByIds } from '../../catalog/series/series-record.ts'
import { maybe, uuid } from '../../schema.ts'
import { acquisition, type Group, type Kind, navigation, type Ref } from '../feed.ts'
import { publicationsByIds } from '../publication.ts'
import { libraryRef, seriesEntries } from './entry.ts'
import { type Asked, pagingOf, type Shelf } from './shelf.ts'

type Wanted = Pick<Asked, 'sql' | 'viewer' | 'page' | 'pageSize'> & { libraryId?: string }

/** An ordered list of books (acquisition) or of series (navigation). */
export type Listing = {
  kind: Kind
  path: string
  title: string
  summary: string
  find: (wanted: Wanted) => Promise<{ ids: string[]; total: number }>
}

const ofLibrary = { libraryId: maybe(uuid({ description: 'Only of this library.' })) }

/** Of what is new. Nobody turns more pages, and those in the middle of a million books take long to find. */
export const mostLatest = 1_000

/** The shelf of a list, which may be asked for one library of it. */
export function listingShelf(listing: Listing): Shelf {
  const { path, summary } = listing
  return {
    path,
    summary,
    query: ofLibrary,
    async find(asked) {
      const { libraryId } = asked.query
      const [library, found] = await Promise.all([
        libraryId ? libraryName(asked.sql, asked.viewer, libraryId) : null,
        listing.find(wantedOf(asked, libraryId)),
      ])
      const common = {
        ...refOf(listing, library),
        paging: pagingOf(asked, found.total),
        ...(library ? { up: libraryRef(library) } : {}),
      }
      return listing.kind === 'acquisition'
        ? acquisition({ ...common, books: await books(asked, found.ids) })
        : navigation({ ...common, entries: await entries(asked, found.ids) })
    },
  }
}

const mostShown = 8

/** The first items of a list; null when there are none. */
export async function groupOf(
  listing: Listing,
  asked: Asked,
  library: LibraryName | null,
): Promise<Group | null> {
  const first = { ...asked, page: 1, pageSize: mostShown }
  const { ids, total } = await listing.find(wantedOf(first, library?.id))
  const ref = { ...refOf(listing, library), total }
  const group: Group =
    listing.kind === 'acquisition'
      ? { ...ref, kind: 'acquisition', books: await books(asked, ids) }
      : { ...ref, kind: 'navigation', entries: await entries(asked, ids) }
  const items = group.kind === 'acquisition' ? group.books : group.entries
  return items.length === 0 ? null : group
}

function refOf(
  { kind, path, title }: Listing,
  library: LibraryName | null,
): Ref & { query: object } {
  return library
    ? { kind, path, title: `${title} in ${library.name}`, query: { libraryId: library.id } }
    : { kind, path, title, query: {} }
}

function wantedOf({ sql, viewer, page, pageSize }: Asked, libraryId: string | undefined): Wanted {
  return { sql, viewer, page, pageSize, ...(libraryId ? { libraryId } : {}) }
}

const books = ({ sql, viewer }: Asked, ids: string[]) => publicationsByIds(sql, viewer, ids)

async function entries({ sql, viewer }: Asked, ids: string[]) {
  return seriesEntries(await seriesByIds(sql, viewer, ids))
}
