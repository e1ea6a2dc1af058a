// Places of an EPUB in one panel: its contents and the reader's bookmarks.
import { BookmarkList } from '../reading/bookmark-list.tsx'
import type { Bookmark } from '../reading/bookmarks.ts'
import { ContentsList } from '../reading/contents-list.tsx'
import { PlacesDialog, type PlaceTab } from '../reading/places-dialog.tsx'
import { formatNumber, t } from '../text/translate.ts'
import type { BookReader } from './book-reader.ts'
import { type Publication, sectionOf } from './content/publication.ts'
import { targetOf } from './locator.ts'

type PlacesProps = {
  reader: BookReader
  tab: PlaceTab
  onTab: (tab: PlaceTab) => void
  onClose: () => void
}

export function PlacesPanel({ reader, tab, onTab, onClose }: PlacesProps) {
  const { bookmarks, publication } = reader
  return (
    <PlacesDialog
      {...{ tab, bookmarks, onTab, onClose }}
      contents={<Contents reader={reader} onClose={onClose} />}
      list={
        <BookmarkList
          bookmarks={bookmarks}
          labelOf={bookmark => labelOf(publication, bookmark)}
          onOpen={({ locator }) => {
            onClose()
            if (locator) void reader.jump(targetOf(publication, locator))
          }}
        />
      }
    />
  )
}

function labelOf(publication: Publication, { locator }: Bookmark): string {
  const { totalProgression } = locator?.locations ?? {}
  const { section } = locator ? targetOf(publication, locator) : { section: 0 }
  const title = locator?.title?.trim() || t('epub.section', { number: section + 1 })
  const percent = formatNumber(totalProgression ?? 0, { style: 'percent' })
  return totalProgression == null ? title : t('bookmark.place', { title, percent })
}

function Contents({ reader, onClose }: Pick<PlacesProps, 'reader' | 'onClose'>) {
  const { publication, position } = reader
  const { contents, sections } = publication
  const entries =
    contents.length > 0
      ? contents
      : sections.map(({ path }, i) => ({
          title: t('epub.section', { number: i + 1 }),
          depth: 0,
          path,
          id: '',
        }))
  const items = entries.map(({ title, depth, path, id }) => {
    const section = sectionOf(publication, path)
    return { title, depth, id, section, isDisabled: section < 0 }
  })
  return (
    <ContentsList
      items={items}
      current={position.value?.entry ?? -1}
      onOpen={({ section, id }) => {
        onClose()
        void reader.jump({ section, ...(id && { at: { id } }) })
      }}
    />
  )
}
