// Radio buttons in a row, and steppers.
import { IconButton } from './button.tsx'

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
