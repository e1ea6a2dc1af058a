// Adding series and books to the want-to-read list, or removing them.
import { api } from '../api/client.ts'
import { t } from '../text/translate.ts'
import { showError, showNotice } from '../ui/toast.tsx'
import type { Selection } from './read-state.ts'

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
