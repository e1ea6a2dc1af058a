// Labels (genres and tags): their normalized key, registration and API record. One label stands for all
// spellings of its name; series and books show their own spelling.
import { createHash } from 'node:crypto'
import { isUnrestricted, type Viewer } from '../../accounts/viewer.ts'
import { Invalid } from '../../base/errors.ts'
import { component, count, maybe, type Static, Type, timestamp, uuid } from '../../base/schema.ts'
import { searchKey } from '../../media/name/text.ts'
import type { Queryable } from '../../store/postgres/db.ts'

export const labelKinds = ['genre', 'tag'] as const
export type LabelKind = (typeof labelKinds)[number]

export const Label = component(
  'Label',
  {
    id: uuid(),
    name: Type.String(),
    seriesCount: maybe(
      count({ description: 'Number of visible series with this label; only in lists.' }),
    ),
    createdAt: timestamp({
      description:
        'For accounts from which series are hidden, when the series was added, or in lists the oldest series.',
    }),
  },
  { description: 'A genre or a tag.' },
)
export type Label = Static<typeof Label>

/** Names with equal keys are the same label: `Sci-Fi` equals `sci-fi `, but not `Sci Fi`. */
export function labelKey(name: string): string {
  return searchKey(name.trim().replace(/\s+/g, ' '))
}

/**
 * The id of a label, computed from its name (UUID version 8): it must not reveal to an account that a
 * hidden series already had the label, or since when.
 */
function labelId(kind: LabelKind, key: string): string {
  const bytes = createHash('sha256').update(`label ${kind} ${key}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Names with normalized spaces, without duplicate keys. Throws Invalid for an empty name. */
export function normalizeLabelNames(names: readonly string[]): string[] {
  const byKey = new Map<string, string>()
  for (const name of names) {
    const normalized = name.trim().replace(/\s+/g, ' ')
    const key = labelKey(normalized)
    if (key === '')
      throw new Invalid('The name of a label must not be empty', { reason: 'name_empty' })
    if (!byKey.has(key)) byKey.set(key, normalized)
  }
  return [...byKey.values()]
}

/** Creates missing labels and adds new spellings. */
export async function registerLabels(tx: Queryable, kind: LabelKind, names: Iterable<string>) {
  const requested = new Map<string, { key: string; spellings: string[] }>()
  for (const name of new Set(names)) {
    const key = labelKey(name)
    if (key === '') continue
    const label = requested.get(key) ?? { key, spellings: [] }
    label.spellings.push(name)
    requested.set(key, label)
  }
  if (requested.size === 0) return
  const known = await knownSpellings(tx, kind, [...requested.keys()])
  const incomplete = [...requested.values()].filter(
    ({ key, spellings }) => !spellings.every(spelling => known.get(key)?.includes(spelling)),
  )
  await upsertLabels(tx, kind, incomplete)
}

async function knownSpellings(tx: Queryable, kind: LabelKind, keys: string[]) {
  // Share lock: no label may be deleted before the series that gets it is linked to it.
  const rows = await tx<{ key: string; spellings: string[] }[]>`
    select key, spellings from label
    where kind = ${kind} and key = any(${keys})
    order by key
    for key share`
  return new Map(rows.map(row => [row.key, row.spellings]))
}

async function upsertLabels(
  tx: Queryable,
  kind: LabelKind,
  labels: { key: string; spellings: string[] }[],
) {
  if (labels.length === 0) return
  const rows = labels
    .map(label => ({ ...label, id: labelId(kind, label.key), name: label.spellings[0]! }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  await tx`
    insert into label as l (id, kind, key, name, spellings)
    select g.id, ${kind}, g.key, g.name, g.spellings
    from jsonb_to_recordset(${tx.json(rows)}) as g(id uuid, key text, name text, spellings text[])
    order by g.key
    on conflict (id) do update
    set spellings = array(
      select distinct s from unnest(l.spellings || excluded.spellings) s order by s)`
}

type Labeled = { genres: string[]; tags: string[]; createdAt: Label['createdAt'] }
type Named = { key: string; label: Label }

/**
 * Loads all labels of series or books in one statement. Returns a function from a row to its labels of a kind,
 * sorted by key.
 */
export async function loadLabels(sql: Queryable, viewer: Viewer, rows: readonly Labeled[]) {
  const labels = await labelsByName(sql, {
    genre: new Set(rows.flatMap(row => row.genres)),
    tag: new Set(rows.flatMap(row => row.tags)),
  })
  const isForAll = isUnrestricted(viewer)
  return (row: Labeled, kind: LabelKind): Label[] => {
    const found: Named[] = []
    for (const name of row[`${kind}s`]) {
      const named = labels[kind].get(name)
      if (named) found.push(named)
    }
    if (found.length > 1) found.sort((a, b) => compareTexts(a.key, b.key))
    // The sort is stable, so the first of several spellings wins.
    const once = found.filter(({ key }, i) => i === 0 || key !== found[i - 1]!.key)
    return once.map(({ label }) => (isForAll ? label : { ...label, createdAt: row.createdAt }))
  }
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

type OfKinds<T> = Record<LabelKind, T>

/** Keyed by name, because many rows have the same names. */
async function labelsByName(
  sql: Queryable,
  names: OfKinds<Set<string>>,
): Promise<OfKinds<Map<string, Named>>> {
  const keys = new Map([...names.genre, ...names.tag].map(name => [name, labelKey(name)]))
  const keysOf = (kind: LabelKind) => [...new Set(Array.from(names[kind], name => keys.get(name)!))]
  const [genres, tags] = [keysOf('genre'), keysOf('tag')]
  if (genres.length + tags.length === 0) return { genre: new Map(), tag: new Map() }
  const rows = await sql<(Pick<Label, 'id' | 'createdAt'> & { kind: LabelKind; key: string })[]>`
    select id, kind, key, created_at as "createdAt" from label
    where kind = 'genre' and key = any(${genres}) or kind = 'tag' and key = any(${tags})`
  const stored = new Map(rows.map(row => [`${row.kind} ${row.key}`, row]))
  const labelsOf = (kind: LabelKind) => {
    const labels = new Map<string, Named>()
    for (const name of names[kind]) {
      const key = keys.get(name)!
      const row = stored.get(`${kind} ${key}`)
      if (row) labels.set(name, { key, label: { id: row.id, name, createdAt: row.createdAt } })
    }
    return labels
  }
  return { genre: labelsOf('genre'), tag: labelsOf('tag') }
}
