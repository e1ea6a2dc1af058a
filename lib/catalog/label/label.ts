// Labels (genres and tags): their normalized key, registration and API record. One label stands for all
// spellings of its name.

import { Invalid } from '../../errors.ts'
import { newId } from '../../id.ts'
import { searchKey } from '../../name/text.ts'
import type { Queryable } from '../../postgres/db.ts'
import { count, maybe, record, type Static, Type, timestamp, uuid } from '../../schema.ts'

export const labelKinds = ['genre', 'tag'] as const
export type LabelKind = (typeof labelKinds)[number]

export const Label = record(
  {
    id: uuid(),
    name: Type.String(),
    seriesCount: maybe(count({ description: 'Visible series with this label; in lists only.' })),
    createdAt: timestamp(),
  },
  { component: 'Label', description: 'A genre or a tag.' },
)
export type Label = Static<typeof Label>

/** Names with equal keys are the same label: `Sci-Fi` and `sci-fi ` are, `Sci Fi` is another. */
export function labelKey(name: string): string {
  return searchKey(name.trim().replace(/\s+/g, ' '))
}

/** Names with single spaces, each key once. Throws Invalid for an empty name. */
export function normalizeLabelNames(names: readonly string[]): string[] {
  const byKey = new Map<string, string>()
  for (const name of names) {
    const normalized = name.trim().replace(/\s+/g, ' ')
    const key = labelKey(normalized)
    if (key === '') throw new Invalid('The name of a label must not be empty')
    if (!byKey.has(key)) byKey.set(key, normalized)
  }
  return [...byKey.values()]
}

/** Creates missing labels and adds new spellings. Returns the canonical name of each given name. */
export async function registerLabels(
  tx: Queryable,
  kind: LabelKind,
  names: Iterable<string>,
): Promise<Map<string, string>> {
  const requested = new Map<string, { key: string; spellings: string[] }>()
  for (const name of new Set(names)) {
    const key = labelKey(name)
    if (key === '') continue
    const label = requested.get(key) ?? { key, spellings: [] }
    label.spellings.push(name)
    requested.set(key, label)
  }
  const canonical = new Map<string, string>()
  if (requested.size === 0) return canonical
  const labels = await findLabels(tx, kind, [...requested.keys()])
  const incomplete = [...requested.values()].filter(({ key, spellings }) => {
    const label = labels.get(key)
    return !label || spellings.some(spelling => !label.spellings.includes(spelling))
  })
  for (const [key, label] of await upsertLabels(tx, kind, incomplete)) labels.set(key, label)
  for (const { key, spellings } of requested.values())
    for (const spelling of spellings) canonical.set(spelling, labels.get(key)!.name)
  return canonical
}

type LabelNames = { name: string; spellings: string[] }

async function findLabels(
  tx: Queryable,
  kind: LabelKind,
  keys: string[],
): Promise<Map<string, LabelNames>> {
  // Share lock: no label is deleted before the series that gets it is linked to it.
  const rows = await tx<(LabelNames & { key: string })[]>`
    select key, name, spellings from label
    where kind = ${kind} and key = any(${keys})
    order by key
    for key share`
  return new Map(rows.map(row => [row.key, row]))
}

async function upsertLabels(
  tx: Queryable,
  kind: LabelKind,
  labels: { key: string; spellings: string[] }[],
) {
  if (labels.length === 0) return new Map<string, LabelNames>()
  const rows = labels
    .map(label => ({ ...label, id: newId(), name: label.spellings[0]! }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const written = await tx<(LabelNames & { key: string })[]>`
    insert into label as l (id, kind, key, name, spellings)
    select g.id, ${kind}, g.key, g.name, g.spellings
    from jsonb_to_recordset(${tx.json(rows)}) as g(id uuid, key text, name text, spellings text[])
    order by g.key
    on conflict (kind, key) do update
    set spellings = array(
      select distinct s from unnest(l.spellings || excluded.spellings) s order by s)
    returning l.key, l.name, l.spellings`
  return new Map(written.map(row => [row.key, row]))
}

type Labelled = { genres: string[]; tags: string[] }

/** Loads all labels of the rows in one statement. Returns a function from names to labels, sorted by key. */
export async function loadLabels(sql: Queryable, rows: readonly Labelled[]) {
  const keysOf = (names: string[]) => [...new Set(names.map(labelKey))]
  const genres = keysOf(rows.flatMap(row => row.genres))
  const tags = keysOf(rows.flatMap(row => row.tags))
  const labels = new Map<string, Label>()
  if (genres.length + tags.length > 0) {
    const loaded = await sql<(Label & { kind: LabelKind; key: string })[]>`
      select id, kind, key, name, created_at as "createdAt" from label
      where kind = 'genre' and key = any(${genres}) or kind = 'tag' and key = any(${tags})`
    for (const { kind, key, ...label } of loaded) labels.set(`${kind} ${key}`, label)
  }
  return (kind: LabelKind, names: string[]): Label[] =>
    keysOf(names)
      .sort()
      .flatMap(key => labels.get(`${kind} ${key}`) ?? [])
}
