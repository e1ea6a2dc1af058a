// Whether lists are shown as cards or as lines: chosen once for all lists of the browser.
import { effect, signal } from '@preact/signals'

export type ListMode = 'cards' | 'lines'
const storageKey = 'stackroom.lists'

export const listMode = signal<ListMode>(
  localStorage.getItem(storageKey) === 'lines' ? 'lines' : 'cards',
)
effect(() => localStorage.setItem(storageKey, listMode.value))
