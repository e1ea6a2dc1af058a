// Form fields: label, control, hint and error, connected for screen readers.
import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t } from '../text/translate.ts'

type FieldProps = {
  label: string
  hint?: string
  error?: string
  /** Beside the label, such as a lock. */
  extra?: ComponentChildren
}

/** State of a text field as its props. */
export function useInput(initial = '') {
  const [value, onInput] = useState(initial)
  return { value, onInput }
}

type TextProps<Attributes> = FieldProps &
  Omit<Attributes, 'label' | 'onInput'> & { onInput?: (value: string) => void }

export function TextField(props: TextProps<JSX.InputHTMLAttributes<HTMLInputElement>>) {
  const { label, hint, error, extra, onInput, ...input } = props
  const id = useId()
  const element = useRef<HTMLInputElement>(null)
  // The browser would focus it a frame later, when the first keys have been typed.
  useLayoutEffect(() => {
    if (input.autofocus) element.current?.focus()
  }, [])
  const shared = textAttributes({ id, hint, error, onInput })
  return field(
    { id, label, hint, error, extra },
    <input ref={element} type="text" {...input} {...shared} />,
  )
}

export function TextArea(props: TextProps<JSX.TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const { label, hint, error, extra, onInput, ...area } = props
  const id = useId()
  const shared = textAttributes({ id, hint, error, onInput })
  return field({ id, label, hint, error, extra }, <textarea rows={4} {...area} {...shared} />)
}

type TextState = Pick<TextProps<{ id: string }>, 'id' | 'hint' | 'error' | 'onInput'>

const textAttributes = ({ id, hint, error, onInput }: TextState) => ({
  id,
  'aria-invalid': error ? true : undefined,
  'aria-describedby': hint || error ? `${id}-hint` : undefined,
  onInput: (event: { currentTarget: { value: string } }) => onInput?.(event.currentTarget.value),
})

type BareSelectProps<V extends string> = {
  value: V
  options: readonly { value: V; text: string; disabled?: boolean }[]
  onChange: (value: V) => void
  disabled?: boolean | undefined
  id?: string
  class?: string
  /** Name for screen readers, where no label is beside it. */
  'aria-label'?: string
}

export function BareSelect<V extends string>(props: BareSelectProps<V>) {
  const { options, onChange, ...select } = props
  return (
    <select {...select} onChange={event => onChange(event.currentTarget.value as V)}>
      {options.map(option => (
        <option key={option.value} value={option.value} disabled={option.disabled}>
          {option.text}
        </option>
      ))}
    </select>
  )
}

/** Options of a select for values, with their texts. */
export const optionsOf = <V extends string>(values: readonly V[], textOf: (value: V) => string) =>
  values.map(value => ({ value, text: textOf(value) }))

type SelectProps<V extends string> = FieldProps & Omit<BareSelectProps<V>, 'id' | 'class'>

export function Select<V extends string>(props: SelectProps<V>) {
  const { label, hint, error, extra, ...select } = props
  const id = useId()
  return field({ id, label, hint, error, extra }, <BareSelect {...select} id={id} />)
}

type SwitchProps = {
  label: string
  hint?: string
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
}

/** A checkbox with its label beside it. */
export function Switch({ label, hint, checked, onChange, disabled }: SwitchProps) {
  const id = useId()
  return (
    <div class="field switch">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={event => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

function field(
  { id, label, hint, error, extra }: FieldProps & { id: string },
  control: ComponentChildren,
) {
  return (
    <div class="field">
      <div class="field-label">
        <label for={id}>{label}</label>
        {extra}
      </div>
      {control}
      {(error || hint) && (
        <p class={error ? 'field-error' : 'field-hint'} id={`${id}-hint`}>
          {error || hint}
        </p>
      )}
    </div>
  )
}

type AccountFieldProps = Omit<Parameters<typeof TextField>[0], 'label'> & { label?: string }

export const EmailField = (props: AccountFieldProps) => (
  <TextField label={t('account.email')} type="email" autocomplete="email" required {...props} />
)

export const PasswordField = (props: AccountFieldProps) => (
  <TextField
    label={t('account.password')}
    type="password"
    autocomplete="current-password"
    required
    {...props}
  />
)

export const NewPasswordField = (props: AccountFieldProps) => (
  <PasswordField
    hint={t('account.passwordHint')}
    autocomplete="new-password"
    minLength={8}
    {...props}
  />
)
