// Reorderable list: rows are dragged by their handle, or moved by keyboard and buttons.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { lineShape } from '../lists/grid-layout.ts'
import { forgetOtherOrders, type PagedList } from '../lists/paged-list.ts'
import { type GridHandle, VirtualGrid } from '../lists/virtual-grid.tsx'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'
import { BareSelect } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { showError } from '../ui/toast.tsx'

type ArrangeListProps<T> = {
  list: PagedList<T>
  label: string
  titleOf: (row: T) => string
  renderRow: (row: T) => ComponentChildren
  /** Moves a row to another index and stores the order. */
  onMove: (from: number, to: number) => Promise<void>
}

type Drag = { from: number; to: number } | null

export function ArrangeList<T>({ list, label, titleOf, renderRow, onMove }: ArrangeListProps<T>) {
  const root = useRef<HTMLDivElement>(null)
  const [drag, setDrag] = useState<Drag>(null)
  const [announcement, setAnnouncement] = useState('')
  const grid = useRef<GridHandle | null>(null)
  const total = list.total.value ?? 0
  const version = list.version.value
  const move = async (from: number, to: number) => {
    const target = Math.max(0, Math.min(total - 1, to))
    const row = list.row(from)
    if (target === from || row === undefined) return
    try {
      await onMove(from, target)
    } catch (error) {
      return showError(error)
    }
    setAnnouncement(
      t('organize.movedTo', { title: titleOf(row), position: target + 1, count: total }),
    )
    forgetOtherOrders(list)
    list.reload()
    if (root.current === null) return
    if (!isInView(handleOf(root.current, target))) grid.current?.scrollTo(target)
    focusHandle(root.current, target)
  }
  const startDrag = useDrag({ setDrag, onDrop: (from, to) => void move(from, to) })
  return (
    <div class="arrange-list" ref={root}>
      <p class="visually-hidden" aria-live="polite">
        {announcement}
      </p>
      <VirtualGrid<T>
        list={list}
        label={label}
        shape={lineShape}
        handle={grid}
        dependency={drag ? `${drag.from}:${drag.to}` : version}
        renderItem={(row, tabIndex, index) => {
          if (row === undefined) return <div class="arrange-row" />
          return (
            <div class={rowClass(index, drag)}>
              <button
                type="button"
                class="arrange-handle"
                tabIndex={tabIndex}
                title={t('organize.arrangeHint')}
                aria-label={t('organize.arrangeRow', { title: titleOf(row), position: index + 1 })}
                onPointerDown={event => startDrag(event, index)}
                onKeyDown={event => {
                  const to = keyTarget(event.key, index, total)
                  if (to === null) return
                  event.preventDefault()
                  event.stopPropagation()
                  void move(index, to)
                }}
              >
                <Icon name="drag" />
              </button>
              {renderRow(row)}
              <span class="arrange-buttons">
                {(['Up', 'Down'] as const).map(side => (
                  <IconButton
                    key={side}
                    icon={`arrow${side}`}
                    tabIndex={-1}
                    label={t(`organize.move${side}`)}
                    disabled={index === (side === 'Up' ? 0 : total - 1)}
                    onClick={() => move(index, side === 'Up' ? index - 1 : index + 1)}
                  />
                ))}
              </span>
            </div>
          )
        }}
      />
    </div>
  )
}

const handleOf = (root: HTMLElement, index: number) =>
  root.querySelector<HTMLElement>(`[data-index="${index}"] .arrange-handle`)

function isInView(element: HTMLElement | null): boolean {
  if (!element) return false
  const { top, bottom } = element.getBoundingClientRect()
  return top > 0 && bottom < innerHeight
}

/** A row exists once the list is scrolled to it and loaded. */
function focusHandle(root: HTMLElement, index: number, attempts = 120) {
  requestAnimationFrame(() => {
    const handle = handleOf(root, index)
    if (handle) handle.focus({ preventScroll: true })
    else if (attempts > 0 && root.isConnected) focusHandle(root, index, attempts - 1)
  })
}

function rowClass(index: number, drag: Drag): string {
  const isTarget = drag !== null && drag.to === index && drag.from !== index
  const edge = isTarget && (drag.to > drag.from ? 'drop-after' : 'drop-before')
  return ['arrange-row', drag?.from === index && 'dragged', edge].filter(Boolean).join(' ')
}

function keyTarget(key: string, index: number, total: number): number | null {
  const targets: Record<string, number> = {
    ArrowUp: index - 1,
    ArrowDown: index + 1,
    PageUp: index - 10,
    PageDown: index + 10,
    Home: 0,
    End: total - 1,
  }
  return targets[key] ?? null
}

/** Width in pixels of the window edges where dragging scrolls. */
const scrollZone = 90
const maxScrollStep = 18

type DragOptions = { setDrag: (drag: Drag) => void; onDrop: (from: number, to: number) => void }

/** Follows the pointer until it is released; Escape cancels. */
function useDrag({ setDrag, onDrop }: DragOptions) {
  const stop = useRef<(() => void) | null>(null)
  useEffect(() => () => stop.current?.(), [])
  return (event: PointerEvent, from: number) => {
    if (event.button !== 0) return
    event.preventDefault()
    const handle = event.currentTarget as HTMLElement
    handle.focus()
    const point = { x: event.clientX, y: event.clientY }
    let to = from
    let frame = 0
    const update = () => {
      const below = document.elementFromPoint(point.x, point.y)?.closest<HTMLElement>('.lists-cell')
      const index = Number(below?.dataset.index ?? Number.NaN)
      if (Number.isNaN(index) || index === to) return
      to = index
      setDrag({ from, to })
    }
    const scroll = () => {
      const above = scrollZone + 56 - point.y
      const below = point.y - (innerHeight - scrollZone)
      const step = above > 0 ? -above : below > 0 ? below : 0
      if (step !== 0) {
        scrollBy(0, Math.max(-maxScrollStep, Math.min(maxScrollStep, step / 4)))
        update()
      }
      frame = requestAnimationFrame(scroll)
    }
    const onMove = (event: PointerEvent) => {
      point.x = event.clientX
      point.y = event.clientY
      update()
    }
    const end = (isDropped: boolean) => {
      stop.current?.()
      if (isDropped && to !== from) onDrop(from, to)
    }
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape') end(false)
    }
    const controller = new AbortController()
    const { signal } = controller
    addEventListener('pointermove', onMove, { signal })
    addEventListener('pointerup', () => end(true), { signal })
    addEventListener('pointercancel', () => end(false), { signal })
    addEventListener('keydown', onKeyDown, { signal, capture: true })
    frame = requestAnimationFrame(scroll)
    setDrag({ from, to })
    stop.current = () => {
      cancelAnimationFrame(frame)
      controller.abort()
      stop.current = null
      setDrag(null)
    }
  }
}

type ArrangeToolbarProps<V extends string> = {
  isArranging: boolean
  /** Shown while the list is not arranged. */
  sort: V
  options: readonly { value: V; text: string }[]
  onSort: (sort: V) => void
  /** Null if the order cannot be changed. */
  onArrange: (() => void) | null
  onDone: () => void
}

/** Sort order and arranging. */
export function ArrangeToolbar<V extends string>(props: ArrangeToolbarProps<V>) {
  const { isArranging, sort, options, onSort, onArrange, onDone } = props
  const id = useId()
  if (isArranging)
    return (
      <div class="row organize-toolbar">
        <p class="secondary-text">{t('organize.arrangeHint')}</p>
        <Button icon="check" variant="primary" text={t('action.done')} onClick={onDone} />
      </div>
    )
  return (
    <div class="row organize-toolbar">
      <label class="inline-field" for={id}>
        <span>{t('sort.label')}</span>
        <BareSelect<V> class="control" id={id} value={sort} options={options} onChange={onSort} />
      </label>
      {onArrange && <Button icon="sort" text={t('organize.arrange')} onClick={onArrange} />}
    </div>
  )
}

type ArrangeLineProps = {
  owner: 'series' | 'books'
  id: string
  title: string
  subtitle: string
}

/** Content of a row. */
export const ArrangeLine = ({ owner, id, title, subtitle }: ArrangeLineProps) => (
  <a class="arrange-link" href={href(`${owner}/${id}`)} draggable={false}>
    <span class="arrange-cover">
      <Cover owner={owner} id={id} />
    </span>
    <span class="arrange-text">
      <span class="arrange-title ellipsis" dir="auto">
        {title}
      </span>
      <span class="secondary-text ellipsis" dir="auto">
        {subtitle}
      </span>
    </span>
  </a>
)
