// Actions on series and books for other views; dialogs are loaded when opened.
import { openDialog } from '../ui/dialog-host.tsx'

export { setRead } from './read-state.ts'
export { setWantToRead } from './wanted.ts'

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

/** Metadata of a series from sources: search, comparison, choice of fields. */
export const findMetadata = (props: { seriesId: string; title: string; onSaved?: () => void }) =>
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
