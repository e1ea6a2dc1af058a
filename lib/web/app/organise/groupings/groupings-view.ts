// Pages of all collections and of all read lists, with covers of their first members.
import { useEffect, useRef } from 'preact/hooks'
import { can } from '../../api/session.ts'
import { Card, CardSkeleton, CoverBadge } from '../../lists/card.ts'
import { useReloadOnEvents } from '../../lists/list-events.ts'
import { usePagedList } from '../../lists/paged-list.ts'
import { cardShape } from '../../lists/shapes.ts'
import { VirtualGrid } from '../../lists/virtual-grid.ts'
import { address, href, navigate, setQuery } from '../../routing/router.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.ts'
import { openDialog } from '../../ui/dialog-host.ts'
import { EmptyState } from '../../ui/empty-state.ts'
import { ErrorState } from '../../ui/error-state.ts'
import { h } from '../../ui/h.ts'
import { Icon } from '../../ui/icon.ts'
import { PageHeader } from '../../ui/page-header.ts'
import { dialogStyles } from '../actions.ts'
import { type Grouping, isAutomatic, type Kind, kinds, listGroupings, memberCount } from './kind.ts'

export const CollectionsView = () => h(GroupingsView, { kind: 'collections' })
export const ReadListsView = () => h(GroupingsView, { kind: 'readlists' })

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
  return h(
    'div',
    { class: 'organise-page' },
    h(PageHeader, {
      title: t(`groupings.${kind}`),
      subtitle: total ? t(`groupings.${kind}Count`, { count: total }) : undefined,
      actions: h(Actions, { kind }),
    }),
    (search !== '' || (total ?? 0) > 12) && h(SearchField, { kind, search }),
    list.error.value !== null && total === null
      ? h(ErrorState, { error: list.error.value, onRetry: list.reload })
      : isEmpty
        ? h(Nothing, { kind, search })
        : h(VirtualGrid<Grouping>, {
            list,
            label: t(`groupings.${kind}`),
            shape: cardShape,
            renderItem: (grouping, tabIndex) => h(GroupingCard, { kind, grouping, tabIndex }),
          }),
  )
}

function Actions({ kind }: { kind: Kind }) {
  if (!can(kinds[kind].write)) return null
  return [
    kind === 'readlists' &&
      h(Button, { key: 'import', icon: 'upload', onClick: importCbl }, t('cbl.import')),
    h(
      Button,
      { key: 'create', icon: 'add', variant: 'primary', onClick: () => create(kind) },
      t(`groupings.create.${kind}`),
    ),
  ] as never
}

const create = (kind: Kind) =>
  openDialog(
    async () => (await import('./grouping-dialog.ts')).GroupingDialog,
    { kind, onSaved: ({ id }: Grouping) => navigate(`${kind}/${id}`) },
    dialogStyles,
  )

const importCbl = () =>
  openDialog(
    async () => (await import('./cbl-dialog.ts')).CblDialog,
    { onImported: (id: string) => navigate(`readlists/${id}`) },
    dialogStyles,
  )

const searchDelayMs = 200

function SearchField({ kind, search }: { kind: Kind; search: string }) {
  const timer = useRef<ReturnType<typeof setTimeout>>()
  useEffect(() => () => clearTimeout(timer.current), [])
  return h(
    'label',
    { class: 'search-field organise-search' },
    h(Icon, { name: 'search', size: 18 }),
    h('input', {
      type: 'search',
      class: 'control',
      defaultValue: search,
      'aria-label': t(`groupings.search.${kind}`),
      placeholder: t(`groupings.search.${kind}`),
      maxLength: 200,
      onInput: event => {
        const { value } = event.currentTarget
        clearTimeout(timer.current)
        timer.current = setTimeout(
          () => setQuery({ q: value.trim() }, { replace: true }),
          searchDelayMs,
        )
      },
    }),
  )
}

function Nothing({ kind, search }: { kind: Kind; search: string }) {
  if (search)
    return h(EmptyState, {
      icon: 'search',
      title: t('groupings.noneFound'),
      text: t('groupings.noneFoundText'),
    })
  return h(EmptyState, {
    icon: kind === 'collections' ? 'collection' : 'list',
    title: t(`groupings.none.${kind}`),
    text: t(`groupings.noneText.${kind}`),
    action: can(kinds[kind].write)
      ? h(
          Button,
          { icon: 'add', variant: 'primary', onClick: () => create(kind) },
          t(`groupings.create.${kind}`),
        )
      : undefined,
  })
}

type GroupingCardProps = { kind: Kind; grouping: Grouping | undefined; tabIndex: number }

function GroupingCard({ kind, grouping, tabIndex }: GroupingCardProps) {
  if (!grouping) return h(CardSkeleton, {})
  const { id, name, updatedAt } = grouping
  const count = memberCount(grouping)
  return h(Card, {
    owner: kind,
    id,
    path: href(`${kind}/${id}`),
    title: name,
    subtitle:
      count === null
        ? t('groupings.automatic')
        : t(`groupings.members.${kinds[kind].member}`, { count }),
    badge:
      isAutomatic(grouping) && h(CoverBadge, { icon: 'filter', label: t('groupings.automatic') }),
    coverVersion: Date.parse(updatedAt),
    tabIndex,
  })
}
