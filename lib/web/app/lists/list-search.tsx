// Search field of a list, whose text is in the address of the page.
import { useEffect, useRef } from 'preact/hooks'
import { address, setQuery } from '../routing/router.ts'
import { Icon } from '../ui/icon.tsx'

const delayMs = 200
/** Shorter texts match too many books. */
export const minBookText = 3

type ListSearchProps = {
  label: string
  /** The label by default. */
  placeholder?: string
  /** Shorter texts are not searched for. */
  minLength?: number
  class?: string
}

export function ListSearch({
  label,
  placeholder = label,
  minLength = 1,
  class: extra = '',
}: ListSearchProps) {
  const text = address.value.query.get('q') ?? ''
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>()
  useEffect(() => () => clearTimeout(timer.current), [])
  // Another text from elsewhere, such as after going back; not the one that is being typed.
  useEffect(() => {
    const element = input.current
    if (element && element.value.trim() !== text && document.activeElement !== element)
      element.value = text
  }, [text])
  return (
    <label class={`search-field ${extra}`}>
      <Icon name="search" size={18} />
      <input
        ref={input}
        type="search"
        class="control"
        defaultValue={text}
        aria-label={label}
        placeholder={placeholder}
        autocomplete="off"
        maxLength={200}
        onInput={event => {
          const value = event.currentTarget.value.trim()
          clearTimeout(timer.current)
          const q = [...value].length < minLength ? '' : value
          timer.current = setTimeout(() => setQuery({ q }, { replace: true }), delayMs)
        }}
      />
    </label>
  )
}
