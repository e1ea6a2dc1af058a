// Form fields: label, control, hint and error, connected for screen readers.
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { h } from './h.ts'

type FieldProps = {
  label: string
  hint?: string
  error?: string
  /** Beside the label, such as a lock. */
  extra?: ComponentChildren
}

type TextFieldProps = FieldProps &
  Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'label' | 'onInput'> & {
    onInput?: (value: string) => void
  }

export function TextField({ label, hint, error, extra, onInput, ...input }: TextFieldProps) {
  const id = useId()
  const control = h('input', {
    type: 'text',
    ...input,
    id,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': hint || error ? `${id}-hint` : undefined,
    onInput: event => onInput?.(event.currentTarget.value),
  })
  return field({ id, label, hint, error, extra }, control)
}

type TextAreaProps = FieldProps &
  Omit<JSX.TextareaHTMLAttributes<HTMLTextAreaElement>, 'label' | 'onInput'> & {
    onInput?: (value: string) => void
  }

export function TextArea({ label, hint, error, extra, onInput, ...input }: TextAreaProps) {
  const id = useId()
  const control = h('textarea', {
    rows: 4,
    ...input,
    id,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': hint || error ? `${id}-hint` : undefined,
    onInput: event => onInput?.(event.currentTarget.value),
  })
  return field({ id, label, hint, error, extra }, control)
}

type SelectProps<V extends string> = FieldProps & {
  value: V
  options: readonly { value: V; text: string; disabled?: boolean }[]
  onChange: (value: V) => void
  disabled?: boolean
}

export function Select<V extends string>(props: SelectProps<V>) {
  const { label, hint, error, extra, value, options, onChange, disabled } = props
  const id = useId()
  const control = h(
    'select',
    { id, value, disabled, onChange: event => onChange(event.currentTarget.value as V) },
    options.map(option =>
      h(
        'option',
        { value: option.value, disabled: option.disabled, key: option.value },
        option.text,
      ),
    ),
  )
  return field({ id, label, hint, error, extra }, control)
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
  return h(
    'div',
    { class: 'field switch' },
    h('input', {
      type: 'checkbox',
      id,
      checked,
      disabled,
      'aria-describedby': hint ? `${id}-hint` : undefined,
      onChange: event => onChange(event.currentTarget.checked),
    }),
    h('label', { for: id }, label),
    hint && h('p', { class: 'field-hint', id: `${id}-hint` }, hint),
  )
}

function field(
  { id, label, hint, error, extra }: FieldProps & { id: string },
  control: ComponentChildren,
) {
  return h(
    'div',
    { class: 'field' },
    h('div', { class: 'field-label' }, h('label', { for: id }, label), extra),
    control,
    (error || hint) &&
      h('p', { class: error ? 'field-error' : 'field-hint', id: `${id}-hint` }, error || hint),
  )
}
