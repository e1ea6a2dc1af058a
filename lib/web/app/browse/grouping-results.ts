// Collections or read lists that a search found.
import { Card } from '../lists/card.ts'
import { Shelf } from '../lists/shelf.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { h } from '../ui/h.ts'

type Grouping = { id: string; name: string; seriesCount?: number | null; bookCount?: number }
type GroupingResultsProps = {
  owner: 'collections' | 'readlists'
  /** Undefined while they are loading. */
  items: readonly Grouping[] | undefined
}

export function GroupingResults({ owner, items }: GroupingResultsProps) {
  if (!items) return null
  return h(Shelf<Grouping>, {
    title: t(owner === 'collections' ? 'nav.collections' : 'nav.readLists'),
    items,
    renderItem: ({ id, name, seriesCount, bookCount }, tabIndex) =>
      h(Card, {
        owner,
        id,
        tabIndex,
        path: href(`${owner}/${id}`),
        title: name,
        subtitle:
          seriesCount != null
            ? t('browse.seriesCount', { count: seriesCount })
            : bookCount !== undefined
              ? t('lists.books', { count: bookCount })
              : '',
      }),
  })
}
