// Page of a collection or read list: its members as covers, their order, and what can be done with it.
import { useMemo, useState } from 'preact/hooks'
import { type Resource, useResource } from '../../api/resource.ts'
import { can } from '../../api/session.ts'
import { useReloadOnEvents } from '../../lists/list-events.ts'
import { type PagedList, usePagedList } from '../../lists/paged-list.ts'
import { createSelection } from '../../lists/selection.ts'
import { address, setQuery } from '../../routing/router.ts'
import type { ViewProps } from '../../routing/view-props.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.ts'
import { EmptyState } from '../../ui/empty-state.ts'
import { ErrorState } from '../../ui/error-state.ts'
import { h } from '../../ui/h.ts'
import { PageHeader } from '../../ui/page-header.ts'
import { GroupingActions } from './grouping-actions.ts'
import {
  findGrouping,
  type Grouping,
  isAutomatic,
  type Kind,
  kinds,
  listMembers,
  type Member,
  type MemberSort,
  memberCount,
  memberSorts,
} from './kind.ts'
import { ArrangeMembers, MemberGrid } from './members.ts'
import { RuleText } from './rule-editor.ts'

export const CollectionView = ({ params }: ViewProps) =>
  h(GroupingView, { kind: 'collections', id: params.id!, key: params.id! })
export const ReadListView = ({ params }: ViewProps) =>
  h(GroupingView, { kind: 'readlists', id: params.id!, key: params.id! })

type Subject = { kind: Kind; id: string }

function GroupingView({ kind, id }: Subject) {
  const grouping = useResource(`/${kind}/${id}`, signal => findGrouping({ kind, id }, signal))
  const arranges = address.value.query.get('mode') === 'arrange'
  const sort = arranges ? 'manual' : sortOf(address.value.query)
  const list = usePagedList<Member>(`/${kind}/${id}/members?${sort}`, (page, signal) =>
    listMembers({ kind, id }, { ...page, sort }, signal),
  )
  const selection = useMemo(createSelection, [id, arranges])
  useReloadOnEvents(
    event => {
      if (/^(?:collection|read_list)_/.test(event.type))
        return [event.entityId, event.collectionId, event.readListId].includes(id)
      const isMember = ({ id }: Member) => id === event.seriesId || id === event.bookId
      return /^(?:series|book|progress)_/.test(event.type) && list.loaded().some(isMember)
    },
    () => {
      grouping.reload()
      list.reload()
    },
  )
  if (grouping.error && !grouping.data)
    return h(ErrorState, { error: grouping.error, onRetry: grouping.reload })
  if (!grouping.data) return h('div', { class: 'view-loading', 'aria-busy': true })
  const reload = () => {
    grouping.reload()
    list.reload()
  }
  return h(
    'div',
    { class: 'organise-page' },
    h(Header, { kind, grouping: grouping.data, list, reload }),
    h(Toolbar, { kind, grouping: grouping.data, arranges, sort, total: list.total.value }),
    h(Members, { kind, grouping, list, selection, arranges }),
  )
}

const sortOf = (query: URLSearchParams): MemberSort =>
  memberSorts.find(sort => sort === query.get('sort')) ?? 'default'

type HeaderProps = { kind: Kind; grouping: Grouping; list: PagedList<Member>; reload: () => void }

function Header({ kind, grouping, list, reload }: HeaderProps) {
  const { name, summary, condition } = grouping
  // What the account sees, which may be less than all.
  const count = list.total.value ?? memberCount(grouping)
  const { member } = kinds[kind]
  const subtitle = [
    h('p', { key: 'count' }, count === null ? '' : t(`groupings.members.${member}`, { count })),
    summary && h('p', { key: 'summary', class: 'grouping-summary', dir: 'auto' }, summary),
    condition &&
      h(
        'div',
        { key: 'rule', class: 'grouping-rule' },
        h('span', null, t('groupings.rule')),
        h(RuleText, { rule: condition }),
      ),
  ]
  return h(PageHeader, {
    title: name,
    subtitle: subtitle as never,
    actions: h(GroupingActions, { kind, grouping, count: count ?? 0, reload }),
  })
}

type ToolbarProps = {
  kind: Kind
  grouping: Grouping
  arranges: boolean
  sort: MemberSort
  total: number | null
}

function Toolbar({ kind, grouping, arranges, sort, total }: ToolbarProps) {
  if ((total ?? 0) < 2) return null
  const canArrange = can(kinds[kind].write) && !isAutomatic(grouping)
  if (arranges)
    return h(
      'div',
      { class: 'organise-toolbar' },
      h('p', { class: 'secondary-text' }, t('organise.arrangeHint')),
      h(
        Button,
        {
          icon: 'check',
          variant: 'primary',
          onClick: () => setQuery({ mode: null }, { replace: true }),
        },
        t('organise.arrangeDone'),
      ),
    )
  const sorts = memberSorts.filter(
    name => name !== 'manual' || (!grouping.ordered && !isAutomatic(grouping)),
  )
  return h(
    'div',
    { class: 'organise-toolbar' },
    h(
      'label',
      { class: 'inline-field' },
      h('span', null, t('organise.sort')),
      h(
        'select',
        {
          class: 'control',
          value: sort,
          onChange: event => {
            const { value } = event.currentTarget
            setQuery({ sort: value === 'default' ? null : value }, { replace: true })
          },
        },
        sorts.map(name => {
          const isByHand = name === 'default' && grouping.ordered
          const text = isByHand
            ? t('groupings.sort.manual')
            : t(`groupings.sort.${name === 'default' ? kind : name}`)
          return h('option', { key: name, value: name }, text)
        }),
      ),
    ),
    canArrange &&
      h(
        Button,
        { icon: 'sort', onClick: () => setQuery({ mode: 'arrange', sort: null }) },
        t('organise.arrange'),
      ),
  )
}

type MembersProps = {
  kind: Kind
  grouping: Resource<Grouping>
  list: PagedList<Member>
  selection: ReturnType<typeof createSelection>
  arranges: boolean
}

function Members({ kind, grouping, list, selection, arranges }: MembersProps) {
  const [isOrdered, setOrdered] = useState(grouping.data!.ordered)
  if (list.error.value !== null && list.total.value === null)
    return h(ErrorState, { error: list.error.value, onRetry: list.reload })
  if (list.total.value === 0)
    return h(EmptyState, {
      icon: kind === 'collections' ? 'collection' : 'list',
      title: t('groupings.empty'),
      text: t(isAutomatic(grouping.data!) ? 'groupings.emptyRule' : `groupings.emptyText.${kind}`),
    })
  const subject = { kind, id: grouping.data!.id }
  if (arranges)
    return h(ArrangeMembers, {
      subject,
      list,
      isOrdered,
      onOrdered: () => {
        setOrdered(true)
        grouping.reload()
      },
    })
  return h(MemberGrid, {
    subject,
    grouping: grouping.data!,
    list,
    selection,
    onChanged: () => {
      grouping.reload()
      list.reload()
    },
  })
}
