// Parts of the settings of both readers: choices, steppers, the incognito switch, keyboard shortcuts.

import type { Signal } from '@preact/signals'
import { can } from '../api/session.ts'
import { type TextKey, t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Switch } from '../ui/field.tsx'

type ChoicesProps<V extends string> = {
  label: string
  /** Label of the group of radio buttons. */
  name: string
  values: readonly V[]
  value: V
  textOf: (value: V) => string
  classOf?: (value: V) => string
  onChange: (value: V) => void
}

export function Choices<V extends string>(props: ChoicesProps<V>) {
  const { label, name, values, value, textOf, classOf, onChange } = props
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {values.map(choice => (
        <label key={choice}>
          <input
            type="radio"
            class="visually-hidden"
            name={name}
            checked={choice === value}
            onChange={() => onChange(choice)}
          />
          <span class={classOf?.(choice)}>{textOf(choice)}</span>
        </label>
      ))}
    </fieldset>
  )
}

type StepsProps = {
  label: string
  /** The value as text. */
  text: string
  less: { label: string; disabled?: boolean; onClick: () => void }
  more: { label: string; disabled?: boolean; onClick: () => void }
}

export const Steps = ({ label, text, less, more }: StepsProps) => (
  <div class="steps" role="group" aria-label={label}>
    <span class="steps-label">{label}</span>
    <IconButton icon="remove" isFramed {...less} />
    <output aria-live="polite">{text}</output>
    <IconButton icon="add" isFramed {...more} />
  </div>
)

/** Stops the recording of reading, for accounts whose reading is recorded. */
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

export type Shortcut = { keys: readonly string[]; text: TextKey }

type ShortcutsDialogProps = { shortcuts: readonly Shortcut[]; onClose: () => void }

export function ShortcutsDialog({ shortcuts, onClose }: ShortcutsDialogProps) {
  const rows = shortcuts.map(({ keys, text }) => (
    <div key={text} class="reader-shortcut">
      <dt>
        {keys.map(key => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{t(text)}</dd>
    </div>
  ))
  return (
    <Dialog title={t('reader.shortcuts')} onClose={onClose}>
      <dl class="reader-shortcuts">{rows}</dl>
    </Dialog>
  )
}
