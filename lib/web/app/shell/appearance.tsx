// Choice of theme and language.
import { type Language, languages } from '../text/languages.ts'
import { chooseLanguage, language, t } from '../text/translate.ts'
import { Select } from '../ui/field.tsx'
import { type Theme, theme, themes } from './theme.ts'

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
