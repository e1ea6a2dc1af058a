// Genres and tags as labels: one label however its name is written. Whoever changes the genres or
// tags of a series does it here, because conditions look into series_label and not into the arrays.
import { newId } from '../../id.ts'
import { searchKey } from '../../name/normalise.ts'
import type { Db } from '../list/filter-sql.ts'

export const labelKinds = ['genre', 'tag'] as const
export type LabelKind = (typeof labelKinds)[number]

/** The key under which a name is the same label: `Sci-Fi` and `sci-fi ` are, `Sci Fi` is another. */
export function labelKey(name: string): string {
  return searchKey(name.trim().replace(/\s+/g, ' '))
}

/** Makes labels for names that have none and keeps new spellings. Answers each name's label name. */
export async function registerLabels(
  tx: Db,
  kind: LabelKind,
  names: Iterable<string>,
): Promise<Map<string, string>> {
  const wanted = new Map<string, { key: string; spellings: string[] }>()
  for (const name of new Set(names)) {
    const key = labelKey(name)
    if (key === '') continue
    const label = wanted.get(key) ?? { key, spellings: [] }
    label.spellings.push(name)
    wanted.set(key, label)
  }
  const canonical = new Map<string, string>()
  if (wanted.size === 0) return canonical
  const known = await find(tx, kind, [...wanted.keys()])
  const lacking = [...wanted.values()].filter(({ key, spellings }) => {
    const label = known.get(key)
    return !label || spellings.some(spelling => !label.spellings.includes(spelling))
  })
  for (const [key, label] of await write(tx, kind, lacking)) known.set(key, label)
  for (const { key, spellings } of wanted.values())
    for (const spelling of spellings) canonical.set(spelling, known.get(key)!.name)
  return canonical
}

type Label = { name: string; spellings: string[] }

async function find(tx: Db, kind: LabelKind, keys: string[]): Promise<Map<string, Label>> {
  // Held, so that none is removed before the series that has it says so.
  const rows = await tx<(Label & { key: string })[]>`
    select key, name, spellings from label
    where kind = ${kind} and key = any(${keys})
    order by key
    for key share`
  return new Map(rows.map(row => [row.key, row]))
}

async function write(tx: Db, kind: LabelKind, labels: { key: string; spellings: string[] }[]) {
  if (labels.length === 0) return new Map<string, Label>()
  const rows = labels
    .map(label => ({ ...label, id: newId(), name: label.spellings[0]! }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const written = await tx<(Label & { key: string })[]>`
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

/**
 * Settles genres and tags of series after their books or their own names changed: what their books
 * say, their own names (the books' in the labels' spelling, unless locked or set by a user), and
 * series_label. Writes only what differs. Answers the series whose own names changed.
 */
export async function settleLabels(tx: Db, seriesIds: string[]): Promise<string[]> {
  const changed = new Set<string>()
  for (const kind of labelKinds)
    for (const id of await settleKind(tx, kind, seriesIds)) changed.add(id)
  return [...changed]
}

type Held = { id: string; own: string[]; books: string[]; said: string[]; isFree: boolean }

async function settleKind(tx: Db, kind: LabelKind, seriesIds: string[]): Promise<string[]> {
  const column = `${kind}s`
  const held = await tx<Held[]>`
    select s.id, s.${tx(column)} as own, s.${tx(`book_${column}`)} as books,
      array(
        select distinct u.label collate "C" from book b, unnest(b.${tx(column)}) as u(label)
        where b.series_id = s.id and b.missing_at is null order by 1) as said,
      not ${column} = any(s.locks) and s.provenance->>${column} is distinct from 'user' as "isFree"
    from series s
    where s.id = any(${seriesIds}) and (s.${tx(column)} <> '{}' or s.${tx(`book_${column}`)} <> '{}'
      or exists (select from book b
        where b.series_id = s.id and b.missing_at is null and b.${tx(column)} <> '{}'))
    order by s.id
    for no key update of s`
  const canonical = await registerLabels(
    tx,
    kind,
    held.flatMap(s => [...s.own, ...s.said]),
  )
  const rows = held.map(series => {
    const { own, said, isFree } = series
    const names = [...new Set(said.flatMap(name => canonical.get(name) ?? []))]
    return { ...series, own: isFree ? names : own, before: own }
  })
  const differing = rows.filter(row => !same(row.own, row.before) || !same(row.said, row.books))
  if (differing.length > 0)
    await tx`
      update series s
      set ${tx(column)} = g.own, ${tx(`book_${column}`)} = g.said, updated_at = now()
      from jsonb_to_recordset(${tx.json(differing)}) as g(id uuid, own text[], said text[])
      where s.id = g.id`
  await link(tx, kind, { seriesIds, rows })
  return rows.filter(row => !same(row.own, row.before)).map(row => row.id)
}

function same(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i])
}

type Linked = { seriesIds: string[]; rows: { id: string; own: string[]; said: string[] }[] }

/** Makes series_label what the names say. */
async function link(tx: Db, kind: LabelKind, { seriesIds, rows }: Linked) {
  const wanted = rows.flatMap(({ id, own, said }) => {
    const keys = new Map<string, boolean>()
    for (const name of said) keys.set(labelKey(name), false)
    for (const name of own) keys.set(labelKey(name), true)
    return [...keys].map(([key, is_own]) => ({ series_id: id, key, is_own }))
  })
  await tx`
    with wanted as materialized (
      select w.series_id, l.id as label_id, w.is_own
      from jsonb_to_recordset(${tx.json(wanted)}) as w(series_id uuid, key text, is_own boolean)
      join label l on l.kind = ${kind} and l.key = w.key
    ), gone as (
      delete from series_label y
      where y.series_id = any(${seriesIds})
        and (select l.kind from label l where l.id = y.label_id) = ${kind}
        and not exists (select from wanted w
          where w.series_id = y.series_id and w.label_id = y.label_id)
    )
    insert into series_label as y (label_id, series_id, is_own)
    select label_id, series_id, is_own from wanted order by series_id, label_id
    on conflict (label_id, series_id) do update set is_own = excluded.is_own
    where y.is_own <> excluded.is_own`
}
