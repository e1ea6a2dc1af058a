// Members of a collection or read list: as covers that can be selected and removed, and as a list to arrange.
import type { Schemas } from '../../api/client.ts'
import { can } from '../../api/session.ts'
import { BookCard } from '../../lists/book-card.ts'
import type { PagedList } from '../../lists/paged-list.ts'
import type { Selection } from '../../lists/selection.ts'
import { SelectionBar } from '../../lists/selection-bar.ts'
import { SeriesCard } from '../../lists/series-card.ts'
import { cardShape } from '../../lists/shapes.ts'
import { VirtualGrid } from '../../lists/virtual-grid.ts'
import { href } from '../../routing/router.ts'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.ts'
import { Cover } from '../../ui/cover.ts'
import { h } from '../../ui/h.ts'
import { showNotice } from '../../ui/toast.ts'
import { ArrangeList } from '../arrange-list.ts'
import {
  addMembers,
  changeGrouping,
  type Grouping,
  isAutomatic,
  type Kind,
  kinds,
  listMembers,
  type Member,
  orderMembers,
  removeMember,
} from './kind.ts'

type Subject = { kind: Kind; id: string }

type MemberGridProps = {
  subject: Subject
  grouping: Grouping
  list: PagedList<Member>
  selection: Selection
  onChanged: () => void
}

export function MemberGrid({ subject, grouping, list, selection, onChanged }: MemberGridProps) {
  const { kind } = subject
  const { member, write } = kinds[kind]
  const remove = async () => {
    const ids = [...selection.ids.value]
    for (const id of ids) await removeMember(subject, id)
    selection.clear()
    onChanged()
    const undo = async () => {
      await addMembers(subject, ids)
      onChanged()
    }
    showNotice(t(`groupings.removed.${member}`, { count: ids.length, name: grouping.name }), {
      text: t('organise.undo'),
      run: undo,
    })
  }
  const canRemove = can(write) && !isAutomatic(grouping)
  return h(
    'div',
    null,
    h(VirtualGrid<Member>, {
      list,
      label: grouping.name,
      shape: cardShape,
      dependency: selection.ids.value,
      renderItem: (row, tabIndex) =>
        kind === 'collections'
          ? h(SeriesCard, { series: row as Schemas['Series'], selection, tabIndex })
          : h(BookCard, { book: row as Schemas['Book'], selection, tabIndex, showSeries: true }),
    }),
    h(SelectionBar, {
      kind: member,
      selection,
      list,
      onDone: onChanged,
      extra: canRemove && h(Button, { icon: 'delete', onClick: remove }, t('organise.remove')),
    }),
  )
}

type ArrangeMembersProps = {
  subject: Subject
  list: PagedList<Member>
  isOrdered: boolean
  /** The order by hand became that of the list. */
  onOrdered: () => void
}

export function ArrangeMembers({ subject, list, isOrdered, onOrdered }: ArrangeMembersProps) {
  const move = async (from: number, to: number) => {
    const first = Math.min(from, to)
    const ids = await idsOf(subject, list, { first, last: Math.max(from, to) })
    const [moved] = ids.splice(from - first, 1)
    ids.splice(to - first, 0, moved!)
    await orderMembers(subject, ids)
    if (isOrdered) return
    await changeGrouping(subject, { ordered: true })
    onOrdered()
  }
  return h(ArrangeList<Member>, {
    list,
    label: t('organise.arrange'),
    titleOf: ({ title }) => title,
    onMove: move,
    renderRow: row => h(MemberLine, { kind: subject.kind, row }),
  })
}

/** Ids of a range of the members, in the order by hand; those that are not in memory are requested. */
async function idsOf(
  subject: Subject,
  list: PagedList<Member>,
  { first, last }: { first: number; last: number },
): Promise<string[]> {
  const indexes = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const known = indexes.map(index => list.row(index)?.id)
  if (known.every(id => id !== undefined)) return known as string[]
  const pageSize = 500
  const ids: string[] = []
  for (let page = Math.floor(first / pageSize); page <= Math.floor(last / pageSize); page++) {
    const { data } = await listMembers(subject, { page: page + 1, pageSize, sort: 'manual' })
    const offset = page * pageSize
    ids.push(
      ...data.filter((_, i) => offset + i >= first && offset + i <= last).map(({ id }) => id),
    )
  }
  return ids
}

function MemberLine({ kind, row }: { kind: Kind; row: Member }) {
  const { member } = kinds[kind]
  const subtitle = 'seriesName' in row ? row.seriesName : t('lists.books', { count: row.bookCount })
  return h(
    'a',
    { class: 'arrange-link', href: href(`${member}/${row.id}`), draggable: false },
    h('span', { class: 'arrange-cover' }, h(Cover, { owner: member, id: row.id })),
    h(
      'span',
      { class: 'arrange-text' },
      h('span', { class: 'arrange-title', dir: 'auto' }, row.title),
      h('span', { class: 'secondary-text', dir: 'auto' }, subtitle),
    ),
  )
}
