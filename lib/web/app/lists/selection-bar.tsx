// Selection of several series or books of a list, and the actions for them.

import { type Signal, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { can } from '../api/session.ts'
import { addTo, editMetadata, matchAll, setRead, setWantToRead } from '../organize/actions.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { showNotice } from '../ui/toast.tsx'
import type { PagedList } from './paged-list.ts'

type SelectionBarProps = {
  kind: 'series' | 'books'
  selection: Selection
  /** Ids that "select all" selects. */
  list: PagedList<{ id: string }>
  /** Called after a change. */
  onDone: () => void
  /** More buttons. */
  extra?: ComponentChildren
}

/** Renders nothing without a selection. */
export function SelectionBar({ kind, selection, list, onDone, extra }: SelectionBarProps) {
  const ids = [...selection.ids.value]
  if (ids.length === 0) return null
  const isSeries = kind === 'series'
  const subject = isSeries ? { seriesIds: ids } : { bookIds: ids }
  const done = () => {
    selection.clear()
    onDone()
  }
  const add = () => addTo(kind, ids)
  const edit = () => editMetadata({ owner: kind, ids, onSaved: done })
  return (
    <div class="row card lists-selection" role="toolbar" aria-label={t('lists.selection')}>
      <strong aria-live="polite">{t('lists.selected', { count: ids.length })}</strong>
      <SelectAll selection={selection} list={list} />
      {can('ProgressWrite') && (
        <>
          <Button icon="check" onClick={() => setRead(subject, true).then(done)}>
            {t('action.markRead')}
          </Button>
          <Button onClick={() => setRead(subject, false).then(done)}>
            {t('action.markUnread')}
          </Button>
        </>
      )}
      <Button icon="bookmark" onClick={() => setWantToRead(subject, true).then(done)}>
        {t('action.wantToRead')}
      </Button>
      {can(isSeries ? 'CollectionsWrite' : 'ReadListsWrite') && (
        <Button icon={isSeries ? 'collection' : 'list'} onClick={add}>
          {t(isSeries ? 'action.addToCollection' : 'action.addToReadList')}
        </Button>
      )}
      {can(isSeries ? 'SeriesWrite' : 'BooksWrite') && (
        <>
          <Button icon="edit" text={t('action.edit')} onClick={edit} />
          <Button
            icon="search"
            text={t('matchingSettings.menu')}
            onClick={() => matchAll(kind, ids).then(done)}
          />
        </>
      )}
      {extra}
      <IconButton icon="close" label={t('lists.endSelection')} onClick={() => selection.clear()} />
    </div>
  )
}

function SelectAll({ selection, list }: Pick<SelectionBarProps, 'selection' | 'list'>) {
  const total = list.total.value ?? 0
  const count = Math.min(total, maxSelected)
  if (selection.ids.value.size >= count) return null
  const select = async () => selection.select((await list.first(count)).map(({ id }) => id))
  return (
    <Button onClick={select}>
      {t(count < total ? 'lists.selectFirst' : 'lists.selectAll', { count })}
    </Button>
  )
}

export type Selection = {
  ids: Signal<ReadonlySet<string>>
  toggle: (id: string) => void
  /** Replaces the selection with the first ids, up to the limit. */
  select: (ids: readonly string[]) => void
  clear: () => void
}

/** Bulk changes are sent in sequential requests of a hundred. */
const maxSelected = 1_000

export function createSelection(): Selection {
  const ids = signal<ReadonlySet<string>>(new Set())
  return {
    ids,
    toggle(id) {
      const next = new Set(ids.value)
      if (!next.delete(id)) {
        if (next.size >= maxSelected)
          return showNotice(t('lists.maxSelected', { count: maxSelected }))
        next.add(id)
      }
      ids.value = next
    },
    select(all) {
      ids.value = new Set(all.slice(0, maxSelected))
    },
    clear() {
      ids.value = new Set()
    },
  }
}
