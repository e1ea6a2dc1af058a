// Drop-down menu: closes with Escape, a click elsewhere or a choice; arrow keys move in it.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { showError } from './toast.tsx'

type MenuProps = { label: string; trigger: ComponentChildren; children: ComponentChildren }

/** Children are entries, elements with the class `menu-field` or `menu-title`, or `hr`. */
export function Menu({ label, trigger, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const content = useRef<HTMLDivElement>(null)
  // Before the next key is handled.
  useLayoutEffect(() => {
    if (!content.current) return
    placeInWindow(content.current, button.current!)
    content.current.querySelector<HTMLElement>('.menu-item')?.focus()
  }, [isOpen])
  useEffect(() => {
    if (!isOpen) return
    const closeOutside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', closeOutside)
    document.addEventListener('focusin', closeOutside)
    return () => {
      document.removeEventListener('pointerdown', closeOutside)
      document.removeEventListener('focusin', closeOutside)
    }
  }, [isOpen])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isOpen) {
      event.preventDefault()
      event.stopPropagation()
      setOpen(false)
      button.current?.focus()
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    if ((event.target as Element).matches('select, input')) return
    event.preventDefault()
    moveFocus(root.current!, event.key === 'ArrowDown' ? 1 : -1)
  }
  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="button icon-button quiet"
        ref={button}
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {trigger}
      </button>
      {isOpen && (
        <div
          class="menu-content"
          ref={content}
          onClick={(event: MouseEvent) => {
            if ((event.target as Element).closest('.menu-item')) setOpen(false)
          }}
        >
          {children}
        </div>
      )}
    </div>
  )
}

type MenuButtonProps = { icon: IconName; text: string; onClick: () => unknown; isDanger?: boolean }

/** Menu entry that runs an action and shows its failure as a message. */
export function MenuButton({ icon, text, onClick, isDanger = false }: MenuButtonProps) {
  const run = async () => {
    try {
      await onClick()
    } catch (error) {
      showError(error)
    }
  }
  return (
    <button
      type="button"
      class={`menu-item${isDanger ? ' danger' : ''}`}
      onClick={() => void run()}
    >
      <Icon name={icon} />
      {text}
    </button>
  )
}

type MenuLinkProps = { icon: IconName; text: string; href: string; isDownload?: boolean }

export function MenuLink({ icon, text, href, isDownload = false }: MenuLinkProps) {
  return (
    <a class="menu-item" href={href} {...(isDownload && { download: '' })}>
      <Icon name={icon} />
      {text}
    </a>
  )
}

const marginPx = 8

/** Moves the content, which the style sheet places below the button, to where there is room. */
function placeInWindow(content: HTMLElement, button: HTMLElement) {
  const box = content.getBoundingClientRect()
  const anchor = button.getBoundingClientRect()
  const { clientWidth, clientHeight } = document.documentElement
  const toStart = Math.max(0, marginPx - box.left)
  const toEnd = Math.min(0, clientWidth - marginPx - box.right)
  const isAbove = box.bottom > clientHeight - marginPx && anchor.top > box.height + marginPx
  const up = isAbove ? anchor.top - box.height - 4 - box.top : 0
  content.style.translate = `${toStart || toEnd}px ${up}px`
}

function moveFocus(root: HTMLElement, step: number) {
  const items = [...root.querySelectorAll<HTMLElement>('.menu-item:not(:disabled)')]
  const current = items.indexOf(document.activeElement as HTMLElement)
  items.at((current + step + items.length) % items.length)?.focus()
}
