// Metadata of a series or book: loaded as a record, saved as the changed fields.
import { allItems, api, body, type Schemas } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { can } from '../../api/session.ts'
import { allFields, type Owner } from './fields.ts'

export type Link = { sourceName: string; url: string }
export type Values = Readonly<Record<string, unknown>>
export type Locks = Readonly<Record<string, boolean>>
export type MetadataRecord = { values: Values; locks: Locks; etag: string | null }

type Subject = { owner: Owner; id: string }

/** Throws ApiError. */
export async function loadRecord(
  { owner, id }: Subject,
  signal?: AbortSignal,
): Promise<MetadataRecord> {
  const params = { path: { id } }
  const init = { params, ...(signal && { signal }) }
  const sharing =
    owner === 'series' && can('SystemAdmin')
      ? allItems(query =>
          api.GET('/api/v1/series/{id}/sharing-tags', { ...init, params: { ...params, query } }),
        )
      : Promise.resolve([])
  const [metadata, { links }, tags] = await Promise.all([
    api.GET(`/api/v1/${owner}/{id}/metadata`, init),
    body(api.GET(`/api/v1/${owner}/{id}/external-links`, init)),
    sharing,
  ])
  const { values, locks } = recordOf(metadata.data!)
  const own = {
    links: links.map(({ sourceName, url }) => ({ sourceName, url })),
    sharing: tags.map(({ id }) => id),
  }
  return { values: { ...values, ...own }, locks, etag: metadata.response.headers.get('etag') }
}

function recordOf(metadata: Schemas['SeriesMetadata'] | Schemas['BookMetadata']) {
  const { locks, genres, tags, ...values } = metadata
  const names = (labels: readonly Schemas['Label'][]) => labels.map(({ name }) => name)
  return {
    values: { ...values, genres: names(genres), tags: names(tags) } as Values,
    locks: locks as Locks,
  }
}

export const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Merge patch from one object to another (RFC 7396): removed members are null. */
function mergePatch(former: unknown, next: unknown): unknown {
  if (!isObject(former) || !isObject(next)) return next
  const removed = Object.keys(former).filter(name => !(name in next))
  return Object.fromEntries([
    ...removed.map(name => [name, null]),
    ...Object.entries(next).map(([name, value]) => [name, mergePatch(former[name], value)]),
  ])
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Changes = { values: Values; locks: Locks }

/** Saves what changed. Throws ApiError: 412 when the record was changed since it was loaded. */
export async function saveRecord(
  subject: Subject,
  record: MetadataRecord,
  changes: Changes,
): Promise<void> {
  const { owner, id } = subject
  await requireUnchanged(subject, record)
  const fields = allFields(owner)
  const plain = fields.filter(({ name, isPlain }) => isPlain && name in changes.values)
  const changeOf = (name: string) =>
    name === 'customMetadata'
      ? mergePatch(record.values[name], changes.values[name])
      : changes.values[name]
  if (plain.length > 0)
    await patch(
      subject,
      Object.fromEntries(plain.map(({ name }) => [name, changeOf(name)])),
      record.etag,
    )
  for (const kind of ['genres', 'tags'] as const)
    if (kind in changes.values) await putLabels(subject, kind, changes.values[kind] as string[])
  if ('links' in changes.values)
    await saveLinks(subject, record.values.links as Link[], changes.values.links as Link[])
  if ('sharing' in changes.values)
    await api.PUT('/api/v1/series/{id}/sharing-tags', {
      params: { path: { id } },
      body: { sharingTagIds: changes.values.sharing as string[] },
    })
  const saved = fields.filter(({ name, lock }) => lock !== null && name in changes.values)
  const lockedBySaving = new Set(saved.map(({ lock }) => lock))
  const locks = Object.entries(changes.locks).filter(
    ([name, isLocked]) => isLocked !== (lockedBySaving.has(name) || record.locks[name]),
  )
  const params = { path: { id } }
  if (locks.length > 0)
    await api.PUT(`/api/v1/${owner}/{id}/metadata/locks`, {
      params,
      body: Object.fromEntries(locks),
    })
}

/** Genres, links and locks are separate resources: the precondition is checked once for all of them. */
async function requireUnchanged({ owner, id }: Subject, { etag }: MetadataRecord) {
  const params = { path: { id } }
  const { response } = await api.GET(`/api/v1/${owner}/{id}/metadata`, { params })
  if (etag !== null && response.headers.get('etag') !== etag) throw new ApiError(412, '')
}

async function patch({ owner, id }: Subject, values: Values, etag: string | null) {
  const init = {
    params: { path: { id } },
    ...(etag !== null && { headers: { 'if-match': etag } }),
    body: values,
  }
  await api.PATCH(`/api/v1/${owner}/{id}/metadata`, init)
}

async function putLabels({ owner, id }: Subject, kind: 'genres' | 'tags', names: string[]) {
  const params = { path: { id } }
  if (kind === 'genres')
    await api.PUT(`/api/v1/${owner}/{id}/genres`, { params, body: { genres: names } })
  else await api.PUT(`/api/v1/${owner}/{id}/tags`, { params, body: { tags: names } })
}

/** One link per site name. */
async function saveLinks(subject: Subject, former: readonly Link[], next: readonly Link[]) {
  const { owner, id } = subject
  const removed = former.filter(
    link => !next.some(({ sourceName }) => sourceName === link.sourceName),
  )
  const changed = next.filter(link => !former.some(other => isSame(other, link)))
  if (removed.length > 0) await removeLinks(subject, removed)
  const params = { path: { id } }
  for (const link of changed)
    await api.POST(`/api/v1/${owner}/{id}/external-links`, { params, body: link })
}

async function removeLinks({ owner, id }: Subject, removed: readonly Link[]) {
  const names = new Set(removed.map(({ sourceName }) => sourceName))
  if (owner === 'books') {
    for (const source of names)
      await api.DELETE('/api/v1/books/{id}/external-links/{source}', {
        params: { path: { id, source } },
      })
    return
  }
  const params = { path: { id } }
  const { links } = await body(api.GET('/api/v1/series/{id}/external-links', { params }))
  for (const link of links.filter(({ sourceName }) => names.has(sourceName)))
    await api.DELETE('/api/v1/series/{id}/external-links/{link_id}', {
      params: { path: { id, link_id: link.id } },
    })
}

/** Removes values and locks set by users. Throws ApiError. */
export async function resetRecord({ owner, id }: Subject): Promise<void> {
  await api.DELETE(`/api/v1/${owner}/{id}/metadata`, { params: { path: { id } } })
}
