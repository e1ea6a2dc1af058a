// Actions on series and books for other views; dialogs are loaded when opened.

import { api, body, type Schemas } from '../api/client.ts'
import { forgetLocalPosition } from '../reading/local-position.ts'
import { t } from '../text/translate.ts'
import { openDialog } from '../ui/dialog-host.tsx'
import { showError, showNotice } from '../ui/toast.tsx'

/** Like `openDialog`, with the style sheets of this folder. */
export const openOrganizer = <P extends object>(
  load: Parameters<typeof openDialog<P>>[0],
  props: P,
) => openDialog(load, props, ['organize/organize.css', 'organize/dialogs.css'])

type Subject = { owner: 'series' | 'books'; ids: readonly string[]; onSaved?: () => void }

/** The metadata of one series or book, or fields of several at once. */
export const editMetadata = (props: Subject) =>
  props.ids.length === 1
    ? openOrganizer(async () => (await import('./metadata/metadata-dialog.tsx')).MetadataDialog, {
        ...{ owner: props.owner, id: props.ids[0]! },
        ...(props.onSaved && { onSaved: props.onSaved }),
      })
    : openOrganizer(async () => (await import('./metadata/bulk-dialog.tsx')).BulkDialog, props)

type MatchSubject = {
  owner: 'series' | 'books'
  id: string
  title: string
  /** The source that is searched first. */
  sourceId?: string
  onSaved?: () => void
}

/** Metadata of a series or book from sources: search, comparison, choice of fields. */
export const findMetadata = (props: MatchSubject) =>
  openOrganizer(async () => (await import('./metadata/match-dialog.tsx')).MatchDialog, props)

type CoverSubject = {
  owner: 'series' | 'books' | 'collections' | 'readlists'
  id: string
  title: string
  onSaved?: () => void
}

export const chooseCover = (props: CoverSubject) =>
  openOrganizer(async () => (await import('./covers-dialog.tsx')).CoversDialog, props)

/** Series into collections, books into read lists. */
export const addTo = (kind: 'series' | 'books', ids: readonly string[]) =>
  openOrganizer(async () => (await import('./add-to-dialog.tsx')).AddToDialog, { kind, ids })

export type Selection = { seriesIds?: readonly string[]; bookIds?: readonly string[] }

type Former = {
  bookId: string
  progress: Pick<Schemas['Progress'], 'completed' | 'currentPage' | 'progressPercentage'> | null
}

/** Limit for undo: restoring each book's position is a request. */
const maxRestored = 100
const parallelRequests = 6
// Limit per request.
const maxSeries = 100
const maxBooks = 500

/** Marks them and shows a notice with an undo action that restores the positions. Throws ApiError. */
export async function setRead(selection: Selection, isRead: boolean): Promise<void> {
  const former = await formerStates(selection, isRead)
  const startedAt = Date.now()
  const { count, time } = await mark(selection, isRead)
  const undo = () =>
    restore(former ?? [], { isRead, since: time - (Date.now() - startedAt) - 1_000 })
  const text = t(isRead ? 'organize.markedRead' : 'organize.markedUnread', { count })
  showNotice(text, former && count > 0 ? { text: t('organize.undo'), run: undo } : undefined)
}

async function mark({ seriesIds = [], bookIds = [] }: Selection, isRead: boolean) {
  forgetLocalPosition()
  const mark = isRead ? 'read' : 'unread'
  let count = 0
  let time = Date.now()
  const add = ({ data, response }: { data?: Schemas['BulkCount']; response: Response }) => {
    count += data!.count
    time = Date.parse(response.headers.get('date') ?? '') || time
  }
  for (let i = 0; i < seriesIds.length; i += maxSeries) {
    const request = { seriesIds: seriesIds.slice(i, i + maxSeries) }
    add(await api.POST(`/api/v1/series/bulk/${mark}`, { body: request }))
  }
  for (let i = 0; i < bookIds.length; i += maxBooks) {
    const request = { bookIds: bookIds.slice(i, i + maxBooks) }
    add(await api.POST(`/api/v1/books/bulk/${mark}`, { body: request }))
  }
  return { count, time }
}

/** The states the mark will change; null if there are too many. */
async function formerStates(
  { seriesIds = [], bookIds = [] }: Selection,
  isRead: boolean,
): Promise<Former[] | null> {
  if (bookIds.length > maxRestored || seriesIds.length > maxSeries) return null
  const found: Former[] = []
  if (seriesIds.length > 0) {
    const condition = {
      allOf: [
        { seriesId: { operator: 'in', values: [...seriesIds] } },
        { readStatus: { operator: 'isNot', value: isRead ? 'read' : 'unread' } },
      ],
    } satisfies Schemas['BookCondition']
    const query = { page: 1, pageSize: maxRestored + 1 }
    const init = { params: { query }, body: { condition } }
    const page = await body(api.POST('/api/v1/books/list', init))
    if (page.total > maxRestored) return null
    for (const { id, readProgress } of page.data) found.push({ bookId: id, progress: readProgress })
  }
  await inParallel(bookIds, async bookId => {
    const params = { path: { id: bookId } }
    const progress = await body(api.GET('/api/v1/books/{id}/progress', { params }))
    if ((progress?.completed ?? false) !== isRead || (!isRead && progress))
      found.push({ bookId, progress: progress ?? null })
  })
  return found
}

async function restore(
  former: readonly Former[],
  { isRead, since }: { isRead: boolean; since: number },
) {
  const withState = (test: (progress: Former['progress']) => boolean) =>
    former.filter(({ progress }) => test(progress)).map(({ bookId }) => bookId)
  const unread = withState(progress => progress === null)
  const read = withState(progress => progress?.completed ?? false)
  if (unread.length > 0) await mark({ bookIds: unread }, false)
  if (read.length > 0) await mark({ bookIds: read }, true)
  await inParallel(former, async ({ bookId, progress }) => {
    const path = { id: bookId }
    if (progress && !progress.completed)
      await api.PUT('/api/v1/books/{id}/progress', {
        params: { path },
        body: {
          currentPage: progress.currentPage,
          ...(progress.progressPercentage != null && {
            progressPercentage: progress.progressPercentage,
          }),
          completed: false,
        },
      })
    if (isRead) await forgetCompletion(bookId, since)
  })
}

/** Removes the mark from a book's history. */
async function forgetCompletion(bookId: string, since: number) {
  const params = { path: { id: bookId } }
  const { entries } = await body(api.GET('/api/v1/books/{id}/read-history', { params }))
  for (const { id, completedAt } of entries)
    if (id && Date.parse(completedAt) >= since)
      await api.DELETE('/api/v1/books/{id}/read-history/{completionId}', {
        params: { path: { id: bookId, completionId: id } },
      })
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>) {
  const rest = [...items]
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item)
  }
  await Promise.all(Array.from({ length: parallelRequests }, worker))
}

/** Changes the list and shows a notice with an undo action. Throws ApiError. */
export async function setWantToRead(
  selection: Selection,
  wanted: boolean,
  onUndone?: () => void,
): Promise<void> {
  await change(selection, wanted)
  const { seriesIds = [], bookIds = [] } = selection
  const count = seriesIds.length + bookIds.length
  showNotice(t(wanted ? 'organize.wanted' : 'organize.unwanted', { count }), {
    text: t('organize.undo'),
    run: () => change(selection, !wanted).then(onUndone, showError),
  })
}

async function change({ seriesIds = [], bookIds = [] }: Selection, wanted: boolean) {
  if (wanted) {
    for (let i = 0; i < Math.max(seriesIds.length, bookIds.length); i += 100)
      await api.POST('/api/v1/want-to-read/bulk', {
        body: { seriesIds: seriesIds.slice(i, i + 100), bookIds: bookIds.slice(i, i + 100) },
      })
    return
  }
  for (const id of seriesIds)
    await api.DELETE('/api/v1/want-to-read/series/{id}', { params: { path: { id } } })
  for (const id of bookIds)
    await api.DELETE('/api/v1/want-to-read/books/{id}', { params: { path: { id } } })
}

/** Matches them with all sources in the background, and shows a notice. Throws ApiError. */
export async function matchAll(kind: 'series' | 'books', ids: readonly string[]): Promise<void> {
  let count = 0
  for (let start = 0; start < ids.length; start += maxSeries) {
    const some = ids.slice(start, start + maxSeries)
    const { tasksEnqueued } =
      kind === 'series'
        ? await body(
            api.POST('/api/v1/series/metadata/auto-match/task/bulk', { body: { seriesIds: some } }),
          )
        : await body(
            api.POST('/api/v1/books/metadata/auto-match/task/bulk', { body: { bookIds: some } }),
          )
    count += tasksEnqueued
  }
  showNotice(t(count > 0 ? 'maintenance.started' : 'match.noSources'))
}
