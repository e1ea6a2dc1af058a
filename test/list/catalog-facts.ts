// Random catalog for list tests, as database rows and as plain values.
import type { Sql } from 'postgres'
import { newId } from '../../lib/base/id.ts'
import { refreshAuthorKeys } from '../../lib/catalog/derived/author-key.ts'
import { refreshLabels } from '../../lib/catalog/derived/labels.ts'
import { refreshBookSearch, refreshSeriesSearch } from '../../lib/catalog/derived/search-rows.ts'
import { refreshSeriesReading } from '../../lib/catalog/derived/series-reading.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { searchKey } from '../../lib/media/name/text.ts'
import { createRandom } from '../kit/random.ts'

export type SeriesFacts = {
  id: string
  library: string
  title: string
  titleSort: string | null
  publisher: string | null
  status: string
  language: string | null
  year: number | null
  total: number | null
  ageRating: number | null
  /** Set by a user; null for the labels of its books. */
  ownGenres: string[] | null
  ownTags: string[] | null
  sharingTags: string[]
  folder: string | null
  createdAt: Date
}
export type BookFacts = {
  id: string
  series: SeriesFacts
  title: string
  titleSort: string | null
  summary: string | null
  bookType: string | null
  number: number | null
  released: number | null
  size: number
  pages: number
  genres: string[]
  tags: string[]
  author: string
  ageRating: number | null
  error: boolean
  missing: boolean
  format: string
  name: string
  createdAt: Date
  modifiedMs: number
}
export type ProgressFacts = { account: string; book: string; page: number; done: boolean; at: Date }
/** A rating of a series by an account, or that it wants to read a series or book. */
type RatingFacts = { account: string; series: SeriesFacts; rating: number }
type WantedFacts = { account: string; series: SeriesFacts | null; book: BookFacts | null }
export type Facts = {
  libraries: string[]
  series: SeriesFacts[]
  books: BookFacts[]
  progress: ProgressFacts[]
  ratings: RatingFacts[]
  wanted: WantedFacts[]
  accounts: string[]
  sharingTags: Record<string, string>
}

const words = [
  'Naruto',
  'Émile',
  'One',
  'Piece',
  '進撃',
  '巨人',
  'Dr',
  'Slump',
  "Don't",
  '100%',
  'a_b',
  'Ölbaum',
  // Half-width kana: a mark of its own follows the last letter.
  'Vol ﾓﾝｶﾞ',
  'X',
]
const genres = ['Action', 'action', 'Sci-Fi', 'sci-fi', 'Drama', 'Épique', '百合']
const tags = ['long', 'short', 'Classic', 'classic', 'red_1']
const publishers = ['Glénat', 'Viz', 'glenat', null]

/** Facts of a catalog with `seriesCount` series; the same for the same seed. */
export function makeFacts(seed: number, seriesCount: number): Facts {
  const { below, pick, some, next } = createRandom(seed)
  const libraries = [newId(), newId(), newId()]
  const accounts = [newId(), newId()]
  const sharingTags = { kids: newId(), adult: newId() }
  const title = () => Array.from({ length: 1 + below(3) }, () => pick(words)).join(' ')
  const series = Array.from(
    { length: seriesCount },
    (_, i): SeriesFacts => ({
      id: newId(),
      library: pick(libraries),
      title: title(),
      titleSort: below(5) === 0 ? `${title()}, The` : null,
      publisher: pick(publishers),
      status: pick(['ongoing', 'ended', 'hiatus']),
      language: pick(['en', 'ja', null]),
      year: below(3) === 0 ? null : 1990 + below(6),
      total: below(2) === 0 ? null : below(10),
      ageRating: below(3) === 0 ? pick([6, 12, 18]) : null,
      ownGenres: below(6) === 0 ? some(genres, 2) : null,
      ownTags: below(6) === 0 ? some(tags, 1) : null,
      sharingTags: some(Object.keys(sharingTags), 1),
      folder: below(5) === 0 ? null : `Row ${i}`,
      createdAt: new Date(1_700_000_000_000 + below(20) * 86_400_000),
    }),
  )
  const books = series.flatMap(owner =>
    Array.from(
      { length: below(12) },
      (_, i): BookFacts => ({
        id: newId(),
        series: owner,
        title: below(3) === 0 ? `${owner.title} ${i}` : title(),
        titleSort: below(5) === 0 ? `${title()}, The` : null,
        summary: below(3) === 0 ? `A summary of a ${title()}` : null,
        bookType: below(3) === 0 ? pick(['manga', 'novel']) : null,
        number: below(4) === 0 ? null : i,
        released: below(3) === 0 ? null : (1990 + below(4)) * 10_000 + below(3) * 100,
        size: 1000 + below(5),
        pages: below(40),
        genres: some(genres, 2),
        tags: some(tags, 2),
        author: pick(['Akira Toriyama', 'Émile Zola', '尾田']),
        ageRating: below(6) === 0 ? pick([6, 18]) : null,
        error: below(8) === 0,
        missing: below(10) === 0,
        format: pick(['cbz', 'epub']),
        name: `${i}-${below(1e6)}.cbz`,
        createdAt: new Date(1_700_000_000_000 + below(20) * 86_400_000),
        modifiedMs: 1_600_000_000_000 + below(30),
      }),
    ),
  )
  // Series that an age limit shows, but none of their books.
  const adult = new Set(series.filter((_, i) => i % 8 === 3))
  for (const book of books) if (adult.has(book.series)) book.ageRating = 18
  const progress = accounts.flatMap(account => {
    const begun = new Set(series.filter(() => below(2) === 0))
    const all = new Set([...begun].filter(() => below(2) === 0))
    return books
      .filter(book => all.has(book.series) || (begun.has(book.series) && next() < 0.5))
      .map(book => ({
        account,
        book: book.id,
        page: below(3),
        done: all.has(book.series) || below(2) === 0,
        at: new Date(1_710_000_000_000 + below(200) * 1000),
      }))
  })
  const ratings = accounts.flatMap(account =>
    series
      .filter(() => below(3) === 0)
      .map(one => ({ account, series: one, rating: 1 + below(100) })),
  )
  const wanted = accounts.flatMap((account): WantedFacts[] => [
    ...series.filter(() => below(5) === 0).map(one => ({ account, series: one, book: null })),
    ...books.filter(() => below(8) === 0).map(book => ({ account, series: null, book })),
  ])
  return { libraries, series, books, progress, ratings, wanted, accounts, sharingTags }
}

/** Writes the facts as the pipeline would, including derived rows and counters. */
export async function storeFacts(sql: Sql, facts: Facts): Promise<void> {
  await sql`insert into account ${sql(facts.accounts.map(id => ({ id, username: id, password_hash: '-' })))}`
  await sql`
    insert into library ${sql(facts.libraries.map(id => ({ id, name: id, root: Buffer.from(`/${id}`) })))}`
  const folders = facts.libraries.map(id => ({
    id: newId(),
    library_id: id,
    path: Buffer.from('Köln'),
  }))
  await sql`insert into directory ${sql(folders)}`
  await sql`
    insert into sharing_tag ${sql(Object.entries(facts.sharingTags).map(([name, id]) => ({ id, name })))}`
  await sql`
    insert into series ${sql(
      facts.series.map(s => ({
        id: s.id,
        library_id: s.library,
        key: s.id,
        name: s.folder ?? s.title,
        folder: s.folder,
        title: s.title,
        title_sort: s.titleSort,
        sort_key: sortKey(s.titleSort ?? s.title),
        search_key: searchKey(s.title),
        name_key: sortKey(s.folder ?? s.title),
        publisher: s.publisher,
        status: s.status,
        language: s.language,
        year: s.year,
        total_volume_count: s.total,
        age_rating: s.ageRating,
        genres: s.ownGenres ?? [],
        tags: s.ownTags ?? [],
        provenance: sql.json({
          ...(s.ownGenres && { genres: 'user' }),
          ...(s.ownTags && { tags: 'user' }),
        }),
        created_at: s.createdAt,
      })),
    )}`
  const shared = facts.series.flatMap(s =>
    s.sharingTags.map(tag => ({ series_id: s.id, tag_id: facts.sharingTags[tag]! })),
  )
  await sql`insert into series_sharing_tag ${sql(shared)}`
  await sql`
    insert into book ${sql(
      facts.books.map(b => ({
        id: b.id,
        library_id: b.series.library,
        series_id: b.series.id,
        directory_id: folders.find(f => f.library_id === b.series.library)!.id,
        name: Buffer.from(b.id + b.name),
        size: b.size,
        modified_ms: b.modifiedMs,
        format: b.format,
        page_count: b.pages,
        title: b.title,
        title_sort: b.titleSort,
        summary: b.summary,
        extra_metadata: sql.json(b.bookType ? { bookType: b.bookType } : {}),
        sort_key: sortKey(b.titleSort ?? b.title),
        search_key: searchKey(b.title),
        name_key: sortKey(b.name),
        number: b.number === null ? null : String(b.number),
        number_sort: b.number,
        year: b.released && Math.floor(b.released / 10_000),
        month: (b.released && Math.floor(b.released / 100) % 100) || null,
        authors: sql.json([{ name: b.author }]),
        genres: b.genres,
        tags: b.tags,
        age_rating: b.ageRating,
        error_code: b.error ? 'io' : null,
        missing_at: b.missing ? new Date() : null,
        created_at: b.createdAt,
      })),
    )}`
  await sql`
    insert into progress ${sql(
      facts.progress.map(p => ({
        account_id: p.account,
        book_id: p.book,
        current_page: p.page,
        is_completed: p.done,
        updated_at: p.at,
        completed_at: p.done ? p.at : null,
      })),
    )}`
  await sql`
    insert into user_rating ${sql(
      facts.ratings.map(r => ({
        id: newId(),
        account_id: r.account,
        series_id: r.series.id,
        rating: r.rating,
      })),
    )}`
  await sql`
    insert into want_to_read ${sql(
      facts.wanted.map((w, i) => ({
        id: newId(),
        account_id: w.account,
        series_id: w.series?.id ?? null,
        book_id: w.book?.id ?? null,
        position: i,
      })),
    )}`
  await refreshDerived(sql, facts)
}

async function refreshDerived(sql: Sql, facts: Facts) {
  await sql`
    update series s
    set book_count = t.books, missing_count = t.missing, page_count = coalesce(t.pages, 0)
    from (select series_id, count(*) filter (where missing_at is null) as books,
        sum(page_count) filter (where missing_at is null) as pages,
        count(*) filter (where missing_at is not null) as missing
      from book group by series_id) t
    where t.series_id = s.id`
  await sql`
    update library l set book_count = t.books, series_count = t.series
    from (select library_id, sum(book_count) as books, count(*) filter (where book_count > 0) as series
      from series group by library_id) t
    where t.library_id = l.id`
  const ids = facts.series.map(s => s.id)
  await sql.begin(async tx => {
    await refreshLabels(tx, ids)
    await refreshAuthorKeys(tx, ids)
    await refreshSeriesReading(tx, ids)
    await refreshBookSearch(
      tx,
      facts.books.map(b => b.id),
    )
    await refreshSeriesSearch(tx, ids)
  })
}
