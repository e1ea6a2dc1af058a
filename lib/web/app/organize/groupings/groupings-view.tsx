// Collections page and read lists page, with the covers of first members.
import { can } from '../../api/session.ts'
import { Card, CardSkeleton, CoverBadge } from '../../lists/card.tsx'
import { cardShape } from '../../lists/grid-layout.ts'
import { useReloadOnEvents } from '../../lists/list-events.ts'
import { ListSearch } from '../../lists/list-search.tsx'
import { usePagedList } from '../../lists/paged-list.ts'
import { VirtualGrid } from '../../lists/virtual-grid.tsx'
import { address, href, navigate } from '../../routing/router.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, ErrorState } from '../../ui/state.tsx'
import { openOrganizer } from '../actions.ts'
import { type Grouping, isAutomatic, type Kind, kinds, listGroupings, memberCount } from './kind.ts'

export const CollectionsView = () => <GroupingsView kind="collections" />
export const ReadListsView = () => <GroupingsView kind="readlists" />

const eventTypes: Record<Kind, RegExp> = {
  collections: /^collection_/,
  readlists: /^read_list_/,
}

function GroupingsView({ kind }: { kind: Kind }) {
  const search = address.value.query.get('q') ?? ''
  const list = usePagedList<Grouping>(`${kind}?${search}`, (page, signal) =>
    listGroupings(kind, { ...page, ...(search && { search }) }, signal),
  )
  useReloadOnEvents(
    ({ type }) => eventTypes[kind].test(type),
    () => list.reload(),
  )
  const total = list.total.value
  const isEmpty = total === 0
  return (
    <div class="organize-page">
      <PageHeader
        title={t(kinds[kind].name)}
        subtitle={total ? t(`groupings.${kind}Count`, { count: total }) : undefined}
        actions={<Actions kind={kind} />}
      />
      {(search !== '' || (total ?? 0) > 12) && (
        <ListSearch label={t(`groupings.search.${kind}`)} class="organize-search" />
      )}
      {list.error.value !== null && total === null ? (
        <ErrorState error={list.error.value} onRetry={list.reload} />
      ) : isEmpty ? (
        <Nothing kind={kind} search={search} />
      ) : (
        <VirtualGrid<Grouping>
          list={list}
          label={t(kinds[kind].name)}
          shape={cardShape}
          renderItem={(grouping, tabIndex) => (
            <GroupingCard kind={kind} grouping={grouping} tabIndex={tabIndex} />
          )}
        />
      )}
    </div>
  )
}

function Actions({ kind }: { kind: Kind }) {
  if (!can(kinds[kind].write)) return null
  return (
    <>
      {kind === 'readlists' && <Button icon="upload" text={t('cbl.import')} onClick={importCbl} />}
      <Button icon="add" variant="primary" onClick={() => create(kind)}>
        {t(`groupings.create.${kind}`)}
      </Button>
    </>
  )
}

const create = (kind: Kind) =>
  openOrganizer(async () => (await import('./grouping-dialog.tsx')).GroupingDialog, {
    kind,
    onSaved: ({ id }: Grouping) => navigate(`${kind}/${id}`),
  })

const importCbl = () =>
  openOrganizer(async () => (await import('./cbl-dialog.tsx')).CblDialog, {
    onImported: (id: string) => navigate(`readlists/${id}`),
  })

function Nothing({ kind, search }: { kind: Kind; search: string }) {
  if (search)
    return (
      <EmptyState
        icon="search"
        title={t('groupings.noneFound')}
        text={t('groupings.noneFoundText')}
      />
    )
  return (
    <EmptyState
      icon={kind === 'collections' ? 'collection' : 'list'}
      title={t(`groupings.none.${kind}`)}
      text={t(`groupings.noneText.${kind}`)}
      action={
        can(kinds[kind].write) ? (
          <Button icon="add" variant="primary" onClick={() => create(kind)}>
            {t(`groupings.create.${kind}`)}
          </Button>
        ) : undefined
      }
    />
  )
}

type GroupingCardProps = { kind: Kind; grouping: Grouping | undefined; tabIndex: number }

function GroupingCard({ kind, grouping, tabIndex }: GroupingCardProps) {
  if (!grouping) return <CardSkeleton />
  const { id, name, updatedAt } = grouping
  const count = memberCount(grouping)
  return (
    <Card
      owner={kind}
      id={id}
      path={href(`${kind}/${id}`)}
      title={name}
      subtitle={
        count === null ? t('groupings.automatic') : t(`count.${kinds[kind].member}`, { count })
      }
      badge={isAutomatic(grouping) && <CoverBadge icon="filter" label={t('groupings.automatic')} />}
      coverVersion={Date.parse(updatedAt)}
      tabIndex={tabIndex}
    />
  )
}
