// Labels, links and sharing labels of a book or a series, as the Komga-compatible API replaces them.
import type { Viewer } from '../../accounts/viewer.ts'
import { newId } from '../../base/id.ts'
import { normalizeLabelNames } from '../../catalog/label/label.ts'
import { updateLabels } from '../../catalog/label/label-assignment.ts'
import { publishChange } from '../../catalog/metadata/change-events.ts'
import {
  deleteAllExternalReferences,
  putExternalLink,
} from '../../catalog/metadata/external-reference.ts'
import type { BookOrSeries, Owner } from '../../catalog/owner.ts'
import { parseWebUrl } from '../../media/metadata/user-input.ts'
import type { Transaction } from '../../store/postgres/db.ts'

export type Link = { label: string; url?: string | null }

export async function setLabels(
  tx: Transaction,
  viewer: Viewer,
  owner: Owner,
  kind: 'genre' | 'tag',
  names: readonly string[] | null,
) {
  const wanted = normalizeLabelNames([...(names ?? [])])
  // Clients send names in lower case: names that are already known are unchanged.
  await updateLabels(tx, viewer, {
    ...{ owner, kind },
    names: current => {
      const known = new Map(current.map(name => [name.toLowerCase(), name]))
      return wanted.map(name => known.get(name.toLowerCase()) ?? name)
    },
  })
}

/** Two links with the same label cannot be stored: the second one gets a number. */
export async function setLinks(tx: Transaction, owner: Owner, links: readonly Link[] | null) {
  await deleteAllExternalReferences(tx, { kind: owner.kind, ids: [owner.id] }, ['link'])
  const used = new Map<string, number>()
  for (const { label, url } of links ?? []) {
    if (!url) continue
    const parsed = parseWebUrl(url, 'body/links/url')
    const name = label.trim() || new URL(parsed).hostname
    const count = (used.get(name) ?? 0) + 1
    used.set(name, count)
    const sourceName = count === 1 ? name : `${name} (${count})`
    await putExternalLink(tx, owner, { sourceName, url: parsed, externalId: null })
  }
}

/** Creates labels that do not exist yet. */
export async function setSharingLabels(
  tx: Transaction,
  series: BookOrSeries,
  labels: readonly string[],
) {
  const names = [...new Set(labels.map(label => label.trim()).filter(label => label !== ''))]
  const added = names.map(name => ({ id: newId(), name }))
  await tx`
    insert into sharing_tag (id, name)
    select a.id, a.name from jsonb_to_recordset(${tx.json(added)}) as a(id uuid, name text)
    on conflict do nothing`
  const lower = names.map(name => name.toLowerCase())
  const removed = await tx`
    delete from series_sharing_tag t using sharing_tag g
    where t.series_id = ${series.id} and g.id = t.tag_id and lower(g.name) <> all(${lower})`
  const attached = await tx`
    insert into series_sharing_tag (series_id, tag_id)
    select ${series.id}, g.id from sharing_tag g where lower(g.name) = any(${lower})
    on conflict do nothing`
  if (removed.count + attached.count > 0) await publishChange(tx, series, ['sharing_tags'])
}
