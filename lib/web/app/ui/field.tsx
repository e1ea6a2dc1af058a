// Form fields: label, control, hint and error, connected for screen readers.
import type { ComponentChildren, JSX } from 'preact'
import { useId, useState } from 'preact/hooks'

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

type TextFieldProps = FieldProps &
  Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'label' | 'onInput'> & {
    onInput?: (value: string) => void
  }

export function TextField({ label, hint, error, extra, onInput, ...input }: TextFieldProps) {
  const id = useId()
  const control = (
    <input
      type="text"
      {...input}
      id={id}
      aria-invalid={error ? true : undefined}
      aria-describedby={hint || error ? `${id}-hint` : undefined}
      onInput={event => onInput?.(event.currentTarget.value)}
    />
  )
  return field({ id, label, hint, error, extra }, control)
}

type TextAreaProps = FieldProps &
  Omit<JSX.TextareaHTMLAttributes<HTMLTextAreaElement>, 'label' | 'onInput'> & {
    onInput?: (value: string) => void
  }

export function TextArea({ label, hint, error, extra, onInput, ...input }: TextAreaProps) {
  const id = useId()
  const control = (
    <textarea
      rows={4}
      {...input}
      id={id}
      aria-invalid={error ? true : undefined}
      aria-describedby={hint || error ? `${id}-hint` : undefined}
      onInput={event => onInput?.(event.currentTarget.value)}
    />
  )
  return field({ id, label, hint, error, extra }, control)
}

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
