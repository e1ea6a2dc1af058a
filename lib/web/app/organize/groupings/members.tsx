// Members of a collection or read list: covers to select and remove, or a list to arrange.
import type { Schemas } from '../../api/client.ts'
import { can } from '../../api/session.ts'
import { BookCard, SeriesCard } from '../../lists/card.tsx'
import { cardShape } from '../../lists/grid-layout.ts'
import type { PagedList } from '../../lists/paged-list.ts'
import { type Selection, SelectionBar } from '../../lists/selection-bar.tsx'
import { VirtualGrid } from '../../lists/virtual-grid.tsx'
import { t } from '../../text/translate.ts'
import { Button } from '../../ui/button.tsx'
import { showNotice } from '../../ui/toast.tsx'
import { ArrangeLine, ArrangeList } from '../arrange-list.tsx'
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
  type Subject,
} from './kind.ts'

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
      text: t('organize.undo'),
      run: undo,
    })
  }
  const canRemove = can(write) && !isAutomatic(grouping)
  return (
    <div>
      <VirtualGrid<Member>
        list={list}
        label={grouping.name}
        shape={cardShape}
        dependency={selection.ids.value}
        renderItem={(row, tabIndex) =>
          kind === 'collections' ? (
            <SeriesCard
              series={row as Schemas['Series']}
              selection={selection}
              tabIndex={tabIndex}
            />
          ) : (
            <BookCard
              book={row as Schemas['Book']}
              selection={selection}
              tabIndex={tabIndex}
              showSeries
            />
          )
        }
      />
      <SelectionBar
        kind={member}
        selection={selection}
        list={list}
        onDone={onChanged}
        extra={canRemove && <Button icon="delete" text={t('organize.remove')} onClick={remove} />}
      />
    </div>
  )
}

type ArrangeMembersProps = {
  subject: Subject
  list: PagedList<Member>
  isOrdered: boolean
  /** Called when the custom order became the list's order. */
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
  return (
    <ArrangeList<Member>
      list={list}
      label={t('organize.arrange')}
      titleOf={({ title }) => title}
      onMove={move}
      renderRow={row => <MemberLine kind={subject.kind} row={row} />}
    />
  )
}

/** Ids of a range of members in custom order; missing ones are requested. */
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

function MemberLine({ kind, row: { id, title, ...row } }: { kind: Kind; row: Member }) {
  const subtitle = 'seriesName' in row ? row.seriesName : t('count.books', { count: row.bookCount })
  return <ArrangeLine owner={kinds[kind].member} id={id} title={title} subtitle={subtitle} />
}
