// Color theme: light, dark or the system's.
import { effect, signal } from '@preact/signals'
import { readStorage, writeStorage } from '../api/storage.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const storageKey = 'stackroom.theme'
const stored = readStorage(storageKey)

export const theme = signal<Theme>(themes.find(name => name === stored) ?? 'system')

export function startTheme() {
  effect(() => {
    writeStorage(storageKey, theme.value)
    if (theme.value === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme.value
  })
}
