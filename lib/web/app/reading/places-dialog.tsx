// Dialog of the places in a book: its table of contents, if it may have one, and the bookmarks.
import type { ComponentChildren } from 'preact'
import { t } from '../text/translate.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Tabs } from '../ui/tabs.tsx'
import type { Bookmarks } from './bookmarks.ts'

export type PlaceTab = 'contents' | 'bookmarks'

type PlacesDialogProps = {
  tab: PlaceTab
  /** Null for a book without a table of contents. */
  contents: ComponentChildren | null
  /** The list of `bookmarks`. */
  list: ComponentChildren
  bookmarks: Bookmarks
  onTab: (tab: PlaceTab) => void
  onClose: () => void
}

export function PlacesDialog(props: PlacesDialogProps) {
  const { tab, contents, list, bookmarks, onTab, onClose } = props
  const tabs = [
    { name: 'contents', text: t('epub.contents') },
    { name: 'bookmarks', text: t('bookmark.list') },
  ] as const
  return (
    <Dialog
      title={t(tab === 'contents' ? 'epub.contents' : 'bookmark.list')}
      isUnsaved={bookmarks.isUnsaved.value}
      onClose={onClose}
    >
      {contents === null ? (
        list
      ) : (
        <Tabs<PlaceTab> label={t('reader.places')} tabs={tabs} selected={tab} onSelect={onTab}>
          {tab === 'contents' ? contents : list}
        </Tabs>
      )}
    </Dialog>
  )
}
