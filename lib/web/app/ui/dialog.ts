// Modal dialogs: focus stays inside, Escape closes.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { t } from '../text/translate.ts'
import { Button, IconButton } from './button.ts'
import { h } from './h.ts'

type DialogProps = {
  title: string
  onClose: () => void
  children: ComponentChildren
  /** Buttons at the bottom. */
  actions?: ComponentChildren
  width?: 'narrow' | 'wide'
  class?: string
}

/** Shown while it is rendered. */
export function Dialog({
  title,
  onClose,
  children,
  actions,
  width = 'narrow',
  ...rest
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isPressedBeside = useRef(false)
  useEffect(() => {
    const element = dialog.current!
    const opener = document.activeElement as HTMLElement | null
    element.showModal()
    // Not the button that closes it, which is first.
    if (!element.querySelector('[autofocus]')) element.focus()
    return () => {
      element.close()
      opener?.focus()
    }
  }, [])
  return h(
    'dialog',
    {
      class: ['dialog', width, rest.class].filter(Boolean).join(' '),
      ref: dialog,
      tabIndex: -1,
      'aria-label': title,
      onCancel: (event: Event) => {
        event.preventDefault()
        onClose()
      },
      // Only a click that began beside the dialog closes it: text may be selected beyond its border.
      onPointerDown: (event: PointerEvent) => {
        isPressedBeside.current = event.target === dialog.current
      },
      onClick: (event: MouseEvent) => {
        if (isPressedBeside.current && event.target === dialog.current) onClose()
      },
    },
    h(
      'div',
      { class: 'dialog-box' },
      h(
        'header',
        { class: 'dialog-header' },
        h('h2', null, title),
        h(IconButton, {
          icon: 'close',
          variant: 'quiet',
          label: t('action.close'),
          onClick: onClose,
        }),
      ),
      h('div', { class: 'dialog-content' }, children),
      actions && h('footer', { class: 'dialog-actions' }, actions),
    ),
  )
}

type ConfirmProps = {
  title: string
  text: string
  /** Label of the button that does it. */
  action: string
  onConfirm: () => unknown
  onClose: () => void
}

/** Confirmation before an action that cannot be undone. */
export function ConfirmDialog({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  const confirm = async () => {
    await onConfirm()
    onClose()
  }
  const actions = [
    h(Button, { variant: 'quiet', onClick: onClose, key: 'cancel' }, t('action.cancel')),
    h(Button, { variant: 'danger', onClick: confirm, key: 'confirm' }, action),
  ]
  return h(Dialog, { title, onClose, actions, children: h('p', null, text) })
}
