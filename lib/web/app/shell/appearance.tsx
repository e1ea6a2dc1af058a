// Color theme (light, dark or the system’s) and language, with the fields to choose them.

import { effect, signal } from '@preact/signals'
import { readStorage, writeStorage } from '../api/storage.ts'
import { type Language, languages } from '../text/languages.ts'
import { chooseLanguage, language, t } from '../text/translate.ts'
import { Select } from '../ui/field.tsx'

export function ThemeSelect() {
  return (
    <Select<Theme>
      label={t('theme.label')}
      value={theme.value}
      options={themes.map(value => ({ value, text: t(`theme.${value}`) }))}
      onChange={next => {
        theme.value = next
      }}
    />
  )
}

export function LanguageSelect() {
  return (
    <Select<Language>
      label={t('field.language')}
      value={language.value}
      options={Object.entries(languages).map(([tag, text]) => ({ value: tag as Language, text }))}
      onChange={next => void chooseLanguage(next)}
    />
  )
}

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

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
