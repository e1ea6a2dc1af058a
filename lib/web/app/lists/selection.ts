// Selection of several series or books of a list.
import { type Signal, signal } from '@preact/signals'
import { t } from '../text/translate.ts'
import { showNotice } from '../ui/toast.tsx'

export type Selection = {
  ids: Signal<ReadonlySet<string>>
  toggle: (id: string) => void
  /** Replaces the selection with the first ids, up to the limit. */
  select: (ids: readonly string[]) => void
  clear: () => void
}

/** Bulk changes are sent in sequential requests of a hundred. */
export const maxSelected = 1_000

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
