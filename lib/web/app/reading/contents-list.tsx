// Table of contents as a list; the current entry is in view and has the focus.
import { useEffect, useRef } from 'preact/hooks'

export type ContentsItem = { title: string; depth: number; isDisabled?: boolean }

type ContentsListProps<Item extends ContentsItem> = {
  items: readonly Item[]
  /** Index of the current item; -1 for none. */
  current: number
  onOpen: (item: Item) => void
}

export function ContentsList<Item extends ContentsItem>(props: ContentsListProps<Item>) {
  const { items, current, onOpen } = props
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    list.current?.querySelector<HTMLElement>('[aria-current]')?.focus()
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' })
  }, [])
  return (
    <ol class="reader-contents" ref={list}>
      {items.map((item, i) => (
        <li key={i} style={{ paddingInlineStart: `${item.depth * 18}px` }}>
          <button
            type="button"
            class="menu-item"
            dir="auto"
            disabled={item.isDisabled}
            aria-current={i === current ? 'true' : undefined}
            onClick={() => onOpen(item)}
          >
            {item.title}
          </button>
        </li>
      ))}
    </ol>
  )
}
