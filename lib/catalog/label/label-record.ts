// Genres and tags as they are shown.
import type { Sql, TransactionSql } from 'postgres'
import { count, maybe, record, type Static, Type, timestamp, uuid } from '../../schema.ts'
import { type LabelKind, labelKey } from './label.ts'

export const Label = record(
  {
    id: uuid(),
    name: Type.String(),
    seriesCount: maybe(count({ description: 'Series that the caller sees; in lists of all.' })),
    createdAt: timestamp(),
  },
  { component: 'Label', description: 'A genre or a tag.' },
)
export type Label = Static<typeof Label>

type Named = { genres: string[]; tags: string[] }
type LabelRow = Label & { kind: LabelKind; key: string }

/** Finds all labels of the rows in one statement; answers the labels of some names, by name. */
export async function labelsOf(sql: Sql | TransactionSql, rows: readonly Named[]) {
  const keysOf = (names: string[]) => [...new Set(names.map(labelKey))]
  const genres = keysOf(rows.flatMap(row => row.genres))
  const tags = keysOf(rows.flatMap(row => row.tags))
  const known = new Map<string, Label>()
  if (genres.length + tags.length > 0) {
    const found = await sql<LabelRow[]>`
      select id, kind, key, name, created_at as "createdAt" from label
      where kind = 'genre' and key = any(${genres}) or kind = 'tag' and key = any(${tags})`
    for (const { kind, key, ...label } of found) known.set(`${kind} ${key}`, label)
  }
  return (kind: LabelKind, names: string[]): Label[] =>
    keysOf(names)
      .sort()
      .flatMap(key => known.get(`${kind} ${key}`) ?? [])
}
