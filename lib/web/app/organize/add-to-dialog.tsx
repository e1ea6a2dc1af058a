// Dialog that adds series to collections, or books to read lists: existing ones by name, or a new one.
import { useState } from 'preact/hooks'
import { useResource } from '../api/resource.ts'
import { formatNumber, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { ErrorState } from '../ui/state.tsx'
import { showError, showNotice } from '../ui/toast.tsx'
import {
  addMembers,
  createGrouping,
  type Grouping,
  isAutomatic,
  kinds,
  listGroupings,
  memberCount,
} from './groupings/kind.ts'

type AddToDialogProps = { kind: 'series' | 'books'; ids: readonly string[]; onClose: () => void }

const maxShown = 50

export function AddToDialog({ kind: member, ids, onClose }: AddToDialogProps) {
  const kind = member === 'series' ? 'collections' : 'readlists'
  const [search, setSearch] = useState('')
  const name = search.trim()
  const found = useResource(`/${kind}?add=${name}`, signal =>
    listGroupings(kind, { page: 1, pageSize: maxShown, ...(name && { search: name }) }, signal),
  )
  const items = (found.data?.data ?? []).filter(grouping => !isAutomatic(grouping))
  const isKnown = items.some(item => item.name.toLocaleLowerCase() === name.toLocaleLowerCase())
  const added = (grouping: Grouping) => {
    showNotice(t(`groupings.added.${member}`, { count: ids.length, name: grouping.name }))
    onClose()
  }
  const add = async (grouping: Grouping) => {
    await addMembers({ kind, id: grouping.id }, ids)
    added(grouping)
  }
  const create = async () =>
    added(await createGrouping(kind, { name, summary: null, ordered: kind === 'readlists' }, ids))
  return (
    <Dialog title={t(`groupings.addTo.${kind}`)} onClose={onClose}>
      <form
        class="add-to"
        onSubmit={event => {
          event.preventDefault()
          const same = items.find(
            item => item.name.toLocaleLowerCase() === name.toLocaleLowerCase(),
          )
          if (same) add(same).catch(showError)
          else if (name) create().catch(showError)
        }}
      >
        <label class="search-field">
          <Icon name="search" size={18} />
          <input
            type="search"
            class="control"
            value={search}
            autofocus
            maxLength={200}
            placeholder={t(`groupings.searchOrCreate.${kind}`)}
            aria-label={t(`groupings.searchOrCreate.${kind}`)}
            onInput={event => setSearch(event.currentTarget.value)}
          />
        </label>
        {found.error && !found.data && <ErrorState error={found.error} onRetry={found.reload} />}
        {name !== '' && found.data && !isKnown && (
          <Button icon="add" class="add-to-new" onClick={create}>
            {t('groupings.createNamed', { name })}
          </Button>
        )}
        <ul class="add-to-list" aria-label={t(kinds[kind].name)}>
          {items.map(grouping => (
            <li key={grouping.id}>
              <Row kind={kind} grouping={grouping} onClick={() => add(grouping)} />
            </li>
          ))}
        </ul>
        {found.data && items.length === 0 && name === '' && (
          <p class="secondary-text">{t(`groupings.none.${kind}`)}</p>
        )}
      </form>
    </Dialog>
  )
}

type RowProps = { kind: 'collections' | 'readlists'; grouping: Grouping; onClick: () => unknown }

function Row({ kind, grouping, onClick }: RowProps) {
  return (
    <Button variant="quiet" class="add-to-row" onClick={onClick}>
      <span class="add-to-cover">
        <Cover owner={kind} id={grouping.id} />
      </span>
      <span class="add-to-name" dir="auto">
        {grouping.name}
      </span>
      <span class="secondary-text">{formatNumber(memberCount(grouping) ?? 0)}</span>
    </Button>
  )
}
