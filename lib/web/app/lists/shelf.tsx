// Shelf: a horizontal row of cards that scrolls by touch, wheel, keyboard and buttons.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { scrollBehavior } from '../ui/layout.ts'
import { CardSkeleton } from './card.tsx'
import { movedIndex } from './grid-layout.ts'

type ShelfProps<T extends { id: string }> = {
  title: string
  /** Address of the full list. */
  path?: string | undefined
  /** Undefined while loading. */
  items: readonly T[] | undefined
  renderItem: (item: T, tabIndex: number) => VNode
}

/** Renders nothing without items. */
export function Shelf<T extends { id: string }>({ title, path, items, renderItem }: ShelfProps<T>) {
  const row = useRef<HTMLUListElement>(null)
  const [current, setCurrent] = useState(0)
  const { canScrollBack, canScrollOn } = useScrollEnds(row, items?.length ?? 0)
  if (items?.length === 0) return null
  const page = (step: number) => {
    const side = document.documentElement.dir === 'rtl' ? -1 : 1
    row.current?.scrollBy({
      left: side * step * row.current.clientWidth * 0.85,
      behavior: scrollBehavior(),
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown' || !items) return
    const isReversed = document.documentElement.dir === 'rtl'
    const place = { index: current, total: items.length, columns: items.length, isReversed }
    const next = movedIndex(event.key, place)
    if (next === null || event.ctrlKey || event.altKey || event.metaKey) return
    event.preventDefault()
    setCurrent(next)
    row.current?.querySelectorAll<HTMLElement>('.lists-link')[next]?.focus()
  }
  const tabStop = Math.min(current, (items?.length ?? 1) - 1)
  return (
    <section class="lists-shelf" aria-label={title}>
      <header class="lists-shelf-header">
        <h2>{path ? <a href={path}>{title}</a> : title}</h2>
        <ShelfButton direction="back" isEnabled={canScrollBack} onClick={() => page(-1)} />
        <ShelfButton direction="on" isEnabled={canScrollOn} onClick={() => page(1)} />
      </header>
      <ul
        class="lists-shelf-row"
        ref={row}
        onKeyDown={onKeyDown}
        aria-busy={items === undefined}
        tabIndex={items ? undefined : -1}
      >
        {items
          ? items.map((item, index) => (
              <li key={item.id} onFocusIn={() => setCurrent(index)}>
                {renderItem(item, index === tabStop ? 0 : -1)}
              </li>
            ))
          : Array.from({ length: 8 }, (_, key) => (
              <li key={key}>
                <CardSkeleton />
              </li>
            ))}
      </ul>
    </section>
  )
}

/** Placeholder of a loading shelf; not reached by Tab, although it scrolls. */
function ShelfSkeleton() {
  return (
    <div class="lists-shelf loading" aria-hidden>
      <div class="lists-shelf-header">
        <span class="lists-shelf-blank-title" />
      </div>
      <div class="lists-shelf-row" tabIndex={-1}>
        {Array.from({ length: 8 }, (_, key) => (
          <CardSkeleton key={key} />
        ))}
      </div>
    </div>
  )
}

/** A shelf is shown once all shelves above it are loaded: an empty one would move the rest. */
export function shelvesInOrder(shelves: VNode<{ items?: readonly unknown[] | undefined }>[]) {
  const pending = shelves.findIndex(({ props }) => props.items === undefined)
  if (pending < 0) return shelves
  const known = shelves.slice(0, pending)
  const count = known.filter(({ props }) => props.items?.length).length
  const rest = shelves.slice(pending).map((_, i) => <ShelfSkeleton key={count + i} />)
  return [...known, ...rest]
}

type ShelfButtonProps = { direction: 'back' | 'on'; isEnabled: boolean; onClick: () => void }

/** For the mouse; touch and keyboard scroll the row itself. */
function ShelfButton({ direction, isEnabled, onClick }: ShelfButtonProps) {
  return (
    <IconButton
      class="lists-shelf-button icon-directional"
      icon={direction === 'back' ? 'chevronLeft' : 'chevronRight'}
      label={t(direction === 'back' ? 'lists.scrollBack' : 'lists.scrollOn')}
      tabIndex={-1}
      disabled={!isEnabled}
      onClick={onClick}
    />
  )
}

function useScrollEnds(row: { current: HTMLElement | null }, count: number) {
  const [ends, setEnds] = useState({ canScrollBack: false, canScrollOn: false })
  useEffect(() => {
    const element = row.current
    if (!element) return
    let frame = 0
    const update = () => {
      frame = 0
      const left = Math.abs(element.scrollLeft)
      const canScrollBack = left > 4
      const canScrollOn = left + element.clientWidth < element.scrollWidth - 4
      setEnds(known =>
        known.canScrollBack === canScrollBack && known.canScrollOn === canScrollOn
          ? known
          : { canScrollBack, canScrollOn },
      )
    }
    const schedule = () => {
      frame ||= requestAnimationFrame(update)
    }
    update()
    element.addEventListener('scroll', schedule, { passive: true })
    const observer = new ResizeObserver(schedule)
    observer.observe(element)
    return () => {
      cancelAnimationFrame(frame)
      element.removeEventListener('scroll', schedule)
      observer.disconnect()
    }
  }, [count])
  return ends
}
