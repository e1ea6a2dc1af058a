// Radio buttons in a row, and values that are changed in steps.
import { IconButton } from './button.ts'
import { h } from './h.ts'

type ChoicesProps<V extends string> = {
  label: string
  /** Of the group of radio buttons. */
  name: string
  values: readonly V[]
  value: V
  textOf: (value: V) => string
  classOf?: (value: V) => string
  onChange: (value: V) => void
}

export function Choices<V extends string>(props: ChoicesProps<V>) {
  const { label, name, values, value, textOf, classOf, onChange } = props
  return h(
    'fieldset',
    { class: 'choices' },
    h('legend', null, label),
    values.map(choice =>
      h(
        'label',
        { key: choice },
        h('input', {
          type: 'radio',
          class: 'visually-hidden',
          name,
          checked: choice === value,
          onChange: () => onChange(choice),
        }),
        h('span', { class: classOf?.(choice) }, textOf(choice)),
      ),
    ),
  )
}

type StepsProps = {
  label: string
  /** The value as text. */
  text: string
  less: { label: string; disabled?: boolean; onClick: () => void }
  more: { label: string; disabled?: boolean; onClick: () => void }
}

export const Steps = ({ label, text, less, more }: StepsProps) =>
  h(
    'div',
    { class: 'steps', role: 'group', 'aria-label': label },
    h('span', { class: 'steps-label' }, label),
    h(IconButton, { icon: 'remove', ...less }),
    h('output', { 'aria-live': 'polite' }, text),
    h(IconButton, { icon: 'add', ...more }),
  )
