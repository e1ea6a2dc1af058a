// Color theme (light, dark or the system’s) and language, with the fields to choose them.

import { effect, signal } from '@preact/signals'
import { readStorage, writeStorage } from '../api/storage.ts'
import { type Language, languages, reviewed } from '../text/languages.ts'
import { chooseLanguage, language, pseudoLocale, t } from '../text/translate.ts'
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
  const options = Object.entries<string>(languages).map(([value, text]) => ({ value, text }))
  // Only by the address.
  if (language.value === pseudoLocale) options.push({ value: pseudoLocale, text: pseudoLocale })
  return (
    <Select
      label={t('field.language')}
      {...(!reviewed.has(language.value) && { hint: t('language.unreviewed') })}
      value={language.value}
      options={options}
      onChange={next => void chooseLanguage(next as Language)}
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
