// Switch that stops the recording of reading, for accounts whose reading is recorded.
import type { Signal } from '@preact/signals'
import { can } from '../api/session.ts'
import { t } from '../text/translate.ts'
import { Switch } from '../ui/field.tsx'

export function IncognitoSwitch({ isIncognito }: { isIncognito: Signal<boolean> }) {
  if (!can('ProgressWrite')) return null
  return (
    <Switch
      label={t('reader.incognito')}
      hint={t('reader.incognitoHint')}
      checked={isIncognito.value}
      onChange={value => {
        isIncognito.value = value
      }}
    />
  )
}
