// List display, cards or lines: one choice for all lists in this browser.
import { effect, signal } from '@preact/signals'
import { readStorage, writeStorage } from '../api/storage.ts'

export type ListMode = 'cards' | 'lines'
const storageKey = 'stackroom.lists'

export const listMode = signal<ListMode>(readStorage(storageKey) === 'lines' ? 'lines' : 'cards')
effect(() => writeStorage(storageKey, listMode.value))
