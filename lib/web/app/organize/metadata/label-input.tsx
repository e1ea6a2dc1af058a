// Input for a list of names such as genres: removable chips, with suggestions while typing.
import { useId, useRef, useState } from 'preact/hooks'
import { api, body } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
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

export function LabelInput(props: LabelInputProps) {
  const { label, names, onChange, suggestions = [], describedBy } = props
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

type LabelKind = 'genres' | 'tags'

const pageSize = 500
/** Names beyond this many pages are not suggested. */
const maxPages = 4

async function loadNames(kind: LabelKind, signal: AbortSignal): Promise<string[]> {
  const names: string[] = []
  for (let page = 1; page <= maxPages; page++) {
    const init = { params: { query: { page, pageSize } }, signal }
    const { data, totalPages } = await body(api.GET(`/api/v1/${kind}`, init))
    names.push(...data.map(({ name }) => name))
    if (page >= totalPages) break
  }
  return names
}

/** Names of genres and tags for suggestions; empty until loaded. */
export function useLabelNames(kind: LabelKind | null): readonly string[] {
  const key = kind === null ? null : `/${kind}?names`
  return useResource(key, signal => loadNames(kind!, signal)).data ?? []
}
