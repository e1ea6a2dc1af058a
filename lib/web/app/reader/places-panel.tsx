// Places of a comic or PDF: bookmarks, the table of contents of a PDF, and searches in its text.
import { useGet } from '../api/resource.ts'
import { BookmarkList } from '../reading/bookmark-list.tsx'
import { ContentsList } from '../reading/contents-list.tsx'
import { PlacesDialog, type PlaceTab } from '../reading/places-dialog.tsx'
import { SearchDialog } from '../reading/search-dialog.tsx'
import { t } from '../text/translate.ts'
import { EmptyState, ErrorState, Loading } from '../ui/state.tsx'
import type { TextHit } from './page-text.ts'
import { bookmarkedPage, type Reader } from './reader.ts'

type PanelProps = { reader: Reader; onClose: () => void }

export function PlacesPanel({ reader, tab, onClose }: PanelProps & { tab: PlaceTab }) {
  const { bookmarks, count, hasText, panel } = reader
  const list = (
    <BookmarkList
      bookmarks={bookmarks}
      labelOf={bookmark => t('bookmark.page', { page: bookmarkedPage(bookmark, count) })}
      onOpen={bookmark => {
        onClose()
        reader.go(bookmarkedPage(bookmark, count))
      }}
    />
  )
  const onTab = (name: PlaceTab) => {
    panel.value = name
  }
  const contents = hasText ? <Contents reader={reader} onClose={onClose} /> : null
  return <PlacesDialog {...{ tab, contents, list, bookmarks, onTab, onClose }} />
}

function Contents({ reader, onClose }: PanelProps) {
  const { book, page } = reader
  const { data, error, reload } = useGet('/api/v1/books/{id}/contents', { path: { id: book.id } })
  if (error) return <ErrorState error={error} onRetry={reload} />
  if (!data) return <Loading />
  if (data.data.length === 0)
    return (
      <EmptyState icon="list" title={t('reader.noContents')} text={t('reader.noContentsText')} />
    )
  const items = data.data.map(entry => ({ ...entry, isDisabled: entry.pageNumber === null }))
  return (
    <ContentsList
      items={items}
      current={items.findLastIndex(({ pageNumber }) => (pageNumber ?? Infinity) <= page.value)}
      onOpen={({ pageNumber }) => {
        onClose()
        if (pageNumber !== null) reader.go(pageNumber)
      }}
    />
  )
}

export function SearchPanel({ reader, onClose }: PanelProps) {
  return (
    <SearchDialog<TextHit>
      search={reader.texts.search}
      labelOf={({ pageNumber }) => t('bookmark.page', { page: pageNumber })}
      onOpen={hit => {
        reader.found.value = hit
        reader.go(hit.pageNumber)
      }}
      onClose={onClose}
    />
  )
}
