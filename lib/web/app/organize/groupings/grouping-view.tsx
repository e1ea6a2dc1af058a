// Page of a collection or read list: members, order, actions.
import { useMemo, useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.ts'
import { type Resource, useGet } from '../../api/resource.ts'
import { can } from '../../api/session.ts'
import { useReloadOnEvents } from '../../lists/list-events.ts'
import { type PagedList, usePagedList } from '../../lists/paged-list.ts'
import { createSelection, type Selection } from '../../lists/selection-bar.tsx'
import type { ViewProps } from '../../routing/load-view.ts'
import { address, navigate, setQuery } from '../../routing/router.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { useConfirm } from '../../ui/dialog.tsx'
import { optionsOf } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu, MenuButton } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, ErrorState, Loading } from '../../ui/state.tsx'
import { showNotice } from '../../ui/toast.tsx'
import { chooseCover, openOrganizer } from '../actions.ts'
import { ArrangeToolbar } from '../arrange-list.tsx'
import { saveFile } from '../files.ts'
import {
  deleteGrouping,
  type Grouping,
  isAutomatic,
  type Kind,
  kinds,
  listMembers,
  type Member,
  type MemberSort,
  memberCount,
  memberSorts,
  type Subject,
  sortTexts,
} from './kind.ts'
import { ArrangeMembers, MemberGrid } from './members.tsx'
import { RuleText } from './rule-editor.tsx'

export const CollectionView = ({ params: { id = '' } }: ViewProps) => (
  <GroupingView kind="collections" id={id} />
)
export const ReadListView = ({ params: { id = '' } }: ViewProps) => (
  <GroupingView kind="readlists" id={id} />
)

function GroupingView({ kind, id }: Subject) {
  const grouping = useGet(`/api/v1/${kind}/{id}`, { path: { id } }) as Resource<Grouping>
  const arranges = address.value.query.get('mode') === 'arrange'
  const sort = arranges ? 'manual' : sortOf(address.value.query)
  const list = usePagedList<Member>(`/${kind}/${id}/members?${sort}`, (page, signal) =>
    listMembers({ kind, id }, { ...page, sort }, signal),
  )
  const selection = useMemo(createSelection, [id, arranges])
  const reload = () => {
    grouping.reload()
    list.reload()
  }
  useReloadOnEvents(event => {
    if (/^(?:collection|read_list)_/.test(event.type))
      return [event.entityId, event.collectionId, event.readListId].includes(id)
    const isMember = ({ id }: Member) => id === event.seriesId || id === event.bookId
    return /^(?:series|book|progress)_/.test(event.type) && list.loaded().some(isMember)
  }, reload)
  if (grouping.error && !grouping.data)
    return <ErrorState error={grouping.error} onRetry={grouping.reload} />
  if (!grouping.data) return <Loading />
  const parts = { kind, grouping: grouping.data, list, arranges, sort, selection, reload }
  return (
    <div class="organize-page">
      <Header {...parts} />
      <Toolbar {...parts} />
      <Members {...parts} />
    </div>
  )
}

type PartProps = {
  kind: Kind
  grouping: Grouping
  list: PagedList<Member>
  arranges: boolean
  sort: MemberSort
  selection: Selection
  reload: () => void
}

const sortOf = (query: URLSearchParams): MemberSort =>
  memberSorts.find(sort => sort === query.get('sort')) ?? 'default'

function Header({ kind, grouping, list, reload }: PartProps) {
  const { name, summary, condition } = grouping
  // The visible members, possibly fewer than all.
  const count = list.total.value ?? memberCount(grouping)
  const { member } = kinds[kind]
  const subtitle = (
    <>
      <p>{count === null ? '' : t(`count.${member}`, { count })}</p>
      {summary && (
        <p class="grouping-summary" dir="auto">
          {summary}
        </p>
      )}
      {condition && (
        <div class="grouping-rule">
          <span>{t('groupings.rule')}</span>
          <RuleText rule={condition} />
        </div>
      )}
    </>
  )
  return (
    <PageHeader
      title={name}
      subtitle={subtitle}
      actions={
        <GroupingActions kind={kind} grouping={grouping} count={count ?? 0} reload={reload} />
      }
    />
  )
}

function Toolbar({ kind, grouping, list, arranges, sort }: PartProps) {
  if ((list.total.value ?? 0) < 2) return null
  const canArrange = can(kinds[kind].write) && !isAutomatic(grouping)
  const usual = grouping.ordered ? 'manual' : kinds[kind].sort
  const sorts = memberSorts.filter(
    name => name !== usual && (name !== 'manual' || !isAutomatic(grouping)),
  )
  return (
    <ArrangeToolbar<MemberSort>
      isArranging={arranges}
      sort={sort === usual ? 'default' : sort}
      options={optionsOf(sorts, value => t(sortTexts[value === 'default' ? usual : value]))}
      onSort={sort => setQuery({ sort: sort === 'default' ? null : sort }, { replace: true })}
      onArrange={canArrange ? () => setQuery({ mode: 'arrange', sort: null }) : null}
      onDone={() => setQuery({ mode: null }, { replace: true })}
    />
  )
}

function Members({ kind, grouping, list, selection, arranges, reload }: PartProps) {
  const [isOrdered, setOrdered] = useState(grouping.ordered)
  if (list.error.value !== null && list.total.value === null)
    return <ErrorState error={list.error.value} onRetry={list.reload} />
  if (list.total.value === 0)
    return (
      <EmptyState
        icon={kind === 'collections' ? 'collection' : 'list'}
        title={t('groupings.empty')}
        text={t(isAutomatic(grouping) ? 'groupings.emptyRule' : `groupings.emptyText.${kind}`)}
      />
    )
  const subject = { kind, id: grouping.id }
  if (arranges)
    return (
      <ArrangeMembers
        subject={subject}
        list={list}
        isOrdered={isOrdered}
        onOrdered={() => {
          setOrdered(true)
          reload()
        }}
      />
    )
  return (
    <MemberGrid
      subject={subject}
      grouping={grouping}
      list={list}
      selection={selection}
      onChanged={reload}
    />
  )
}

type GroupingActionsProps = { kind: Kind; grouping: Grouping; count: number; reload: () => void }

function GroupingActions({ kind, grouping, count, reload }: GroupingActionsProps) {
  const { id, name } = grouping
  const { write, remove } = kinds[kind]
  const { ask, dialog } = useConfirm({
    title: t(`groupings.deleteTitle.${kind}`, { name }),
    text: t(`groupings.deleteText.${kind}`),
    action: t('action.delete'),
    async onConfirm() {
      await deleteGrouping({ kind, id })
      navigate(kind, { replace: true })
      showNotice(t('groupings.deleted', { name }))
    },
  })
  const edit = () =>
    openOrganizer(async () => (await import('./grouping-dialog.tsx')).GroupingDialog, {
      kind,
      grouping,
      onSaved: reload,
    })
  const chooseNext = () => chooseCover({ owner: kind, id, title: name, onSaved: reload })
  const isReadList = kind === 'readlists'
  const hasMenu = can(write) || can(remove) || isReadList
  return (
    <>
      {isReadList && count > 0 && (
        <Button icon="play" variant="primary" onClick={() => readOn(id)}>
          {t('action.continueHere')}
        </Button>
      )}
      {can(write) && <Button icon="edit" text={t('action.edit')} onClick={edit} />}
      {hasMenu && (
        <Menu label={t('action.more')} trigger={<Icon name="more" />}>
          {can(write) && <MenuButton icon="grid" text={t('covers.title')} onClick={chooseNext} />}
          {isReadList && (
            <MenuButton
              icon="download"
              text={t('cbl.export')}
              onClick={() => exportCbl(grouping)}
            />
          )}
          {can(remove) && (
            <MenuButton icon="delete" isDanger text={t('action.delete')} onClick={ask} />
          )}
        </Menu>
      )}
      {dialog}
    </>
  )
}

/** Opens the first unread book. */
async function readOn(id: string) {
  const pageSize = 500
  let first: string | null = null
  for (let page = 1; ; page++) {
    const { data, total } = await listMembers({ kind: 'readlists', id }, { page, pageSize })
    const books = data as Schemas['Book'][]
    first ??= books[0]?.id ?? null
    const next = books.find(({ readProgress }) => !readProgress?.completed)
    if (next) return navigate(`books/${next.id}/read?readlist=${id}`)
    if (page * pageSize >= total) break
  }
  showNotice(t('groupings.allRead'))
  if (first) navigate(`books/${first}/read?readlist=${id}`)
}

async function exportCbl({ id, name }: Grouping) {
  const { data } = await api.GET('/api/v1/readlists/{id}/cbl', {
    params: { path: { id } },
    parseAs: 'blob',
  })
  saveFile(data as Blob, `${name}.cbl`)
}
