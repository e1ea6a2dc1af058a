// Colors of the reader, from its settings or the application.
import { computed, signal } from '@preact/signals'
import { theme } from '../shell/theme.ts'
import { settings } from './settings.ts'
import { paletteOf } from './view/presentation.ts'

const query = matchMedia('(prefers-color-scheme: dark)')
const isSystemDark = signal(query.matches)
query.addEventListener('change', () => {
  isSystemDark.value = query.matches
})

export const palette = computed(() => {
  const isAppDark = theme.value === 'dark' || (theme.value === 'system' && isSystemDark.value)
  return paletteOf(settings.value, isAppDark)
})
