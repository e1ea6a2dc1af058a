// Collections or read lists matching a search.
import { Card } from '../lists/card.tsx'
import { Shelf } from '../lists/shelf.tsx'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'

type Grouping = { id: string; name: string; seriesCount?: number | null; bookCount?: number }
type GroupingResultsProps = {
  owner: 'collections' | 'readlists'
  /** Undefined while loading. */
  items: readonly Grouping[] | undefined
}

export function GroupingResults({ owner, items }: GroupingResultsProps) {
  if (!items) return null
  return (
    <Shelf<Grouping>
      title={t(owner === 'collections' ? 'nav.collections' : 'nav.readLists')}
      items={items}
      renderItem={({ id, name, seriesCount, bookCount }, tabIndex) => (
        <Card
          owner={owner}
          id={id}
          tabIndex={tabIndex}
          path={href(`${owner}/${id}`)}
          title={name}
          subtitle={
            seriesCount != null
              ? t('count.series', { count: seriesCount })
              : bookCount !== undefined
                ? t('count.books', { count: bookCount })
                : ''
          }
        />
      )}
    />
  )
}
