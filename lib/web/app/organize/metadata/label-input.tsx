// Input for a list of names such as genres: removable chips, with suggestions while typing.
import { useId, useRef, useState } from 'preact/hooks'
import { t } from '../../text/translate.ts'
import { Icon } from '../../ui/icon.tsx'

type LabelInputProps = {
  label: string
  names: readonly string[]
  onChange: (names: string[]) => void
  suggestions?: readonly string[]
  describedBy?: string
}

const maxSuggestions = 200
const normalized = (name: string) => name.trim().toLocaleLowerCase()

export function LabelInput({
  label,
  names,
  onChange,
  suggestions = [],
  describedBy,
}: LabelInputProps) {
  const [text, setText] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  const known = new Set(names.map(normalized))
  const add = (value: string) => {
    const added = value
      .split(/[,;\n]/)
      .map(name => name.trim().slice(0, 200))
      .filter((name, i, all) => name && all.indexOf(name) === i && !known.has(normalized(name)))
    setText('')
    if (added.length > 0) onChange([...names, ...added])
  }
  const remove = (index: number) => {
    onChange(names.filter((_, i) => i !== index))
    input.current?.focus()
  }
  const onInput = (event: InputEvent & { currentTarget: HTMLInputElement }) => {
    const { value } = event.currentTarget
    const isChosen = event.inputType === 'insertReplacementText' || event.inputType === undefined
    if (/[,;]$/.test(value) || (isChosen && suggestions.includes(value))) add(value)
    else setText(value)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && text.trim()) {
      event.preventDefault()
      add(text)
    } else if (event.key === 'Backspace' && text === '' && names.length > 0)
      remove(names.length - 1)
  }
  const query = normalized(text)
  const offered = suggestions
    .filter(name => !known.has(normalized(name)) && normalized(name).includes(query))
    .slice(0, maxSuggestions)
  return (
    <div class="label-input">
      {names.map((name, i) => (
        <span key={name} class="label-chip">
          {name}
          <button
            type="button"
            aria-label={t('organize.removeName', { name })}
            title={t('organize.removeName', { name })}
            onClick={() => remove(i)}
          >
            <Icon name="close" size={14} />
          </button>
        </span>
      ))}
      <input
        ref={input}
        type="text"
        value={text}
        list={`${id}-names`}
        aria-label={label}
        aria-describedby={describedBy}
        placeholder={t('organize.addName')}
        autocomplete="off"
        onInput={onInput}
        onKeyDown={onKeyDown}
        onBlur={() => text.trim() && add(text)}
      />
      <datalist id={`${id}-names`}>
        {offered.map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  )
}
