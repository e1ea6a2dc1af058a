// Selection of several series or books of a list.
import { type Signal, signal } from '@preact/signals'

export type Selection = {
  ids: Signal<ReadonlySet<string>>
  toggle: (id: string) => void
  clear: () => void
}

/** Requests for several records are limited to as many. */
const maxSelected = 100

export function createSelection(): Selection {
  const ids = signal<ReadonlySet<string>>(new Set())
  return {
    ids,
    toggle(id) {
      const next = new Set(ids.value)
      if (!next.delete(id) && next.size < maxSelected) next.add(id)
      ids.value = next
    },
    clear() {
      ids.value = new Set()
    },
  }
}
