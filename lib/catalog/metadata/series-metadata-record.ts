// All that is known of series: what details, full lists and the answers to changes show.
import type { Sql, TransactionSql } from 'postgres'
import { seesSeries, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { readingDirections, seriesStatuses } from '../../metadata/metadata.ts'
import {
  json,
  list,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../schema.ts'
import { Label, labelsOf } from '../label/label-record.ts'
import { ExternalId, ExternalLink, externalIds, externalLinks } from './external-reference.ts'
import { SeriesLocks, seriesFlags, shownLocks } from './lock-names.ts'

type Db = Sql | TransactionSql

export const AuthorRecord = record(
  {
    name: Type.String(),
    role: nullable(Type.String()),
    sortName: nullable(Type.String()),
  },
  { component: 'Author' },
)
export const AlternateTitleRecord = record(
  { label: Type.String(), title: Type.String() },
  { component: 'AlternateTitle' },
)

const described = {
  title: Type.String(),
  titleSort: nullable(Type.String()),
  summary: nullable(Type.String()),
  publisher: nullable(Type.String()),
  imprint: nullable(Type.String()),
  status: oneOf(seriesStatuses),
  ageRating: nullable(Type.Integer({ description: 'Years.' })),
  language: nullable(Type.String({ description: 'BCP 47.' })),
  readingDirection: nullable(oneOf(readingDirections)),
  year: nullable(Type.Integer()),
  totalVolumeCount: nullable(Type.Integer({ description: 'As published, not as owned.' })),
  totalChapterCount: nullable(Type.Number()),
  customMetadata: json({ description: 'An object kept as it was sent, or null.' }),
  authors: list(AuthorRecord),
  alternateTitles: list(AlternateTitleRecord),
}

export const SeriesMetadata = record(
  {
    id: uuid({ description: 'That of the series.' }),
    seriesId: uuid(),
    ...described,
    genres: list(Label),
    tags: list(Label),
    externalIds: list(ExternalId),
    externalLinks: list(ExternalLink),
    locks: SeriesLocks,
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { component: 'SeriesMetadata' },
)
export type SeriesMetadata = Static<typeof SeriesMetadata>

type Row = Omit<
  SeriesMetadata,
  'seriesId' | 'genres' | 'tags' | 'externalIds' | 'externalLinks' | 'locks'
> & { genres: string[]; tags: string[]; locks: string[] }

/** By id of the series; hidden ones are left out. Four statements, whatever the number. */
export async function seriesMetadataByIds(
  sql: Db,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, SeriesMetadata>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<Row[]>`
    select s.id, s.title, s.title_sort as "titleSort", s.summary, s.publisher, s.imprint, s.status,
      s.age_rating as "ageRating", s.language, s.reading_direction as "readingDirection", s.year,
      s.total_volume_count as "totalVolumeCount", s.total_chapter_count as "totalChapterCount",
      s.custom_metadata as "customMetadata", s.authors, s.alternate_titles as "alternateTitles",
      s.genres, s.tags, s.locks, s.created_at as "createdAt", s.updated_at as "updatedAt"
    from series s
    where s.id = any(${ids as string[]}::uuid[]) and ${seesSeries(sql, viewer)}`
  const seen = rows.map(row => row.id)
  const named = await labelsOf(sql, rows)
  const known = await externalIds(sql, 'series', seen)
  const linked = await externalLinks(sql, 'series', seen)
  return new Map(
    rows.map(row => {
      const metadata = {
        ...row,
        seriesId: row.id,
        genres: named('genre', row.genres),
        tags: named('tag', row.tags),
        externalIds: known.get(row.id) ?? [],
        externalLinks: linked.get(row.id) ?? [],
        locks: shownLocks(seriesFlags, row.locks),
      }
      return [row.id, metadata]
    }),
  )
}

/** Throws NotFound for a series that is not there or is hidden. */
export async function seriesMetadata(sql: Db, viewer: Viewer, id: string): Promise<SeriesMetadata> {
  const metadata = (await seriesMetadataByIds(sql, viewer, [id])).get(id)
  if (!metadata) throw new NotFound('Series not found')
  return metadata
}
