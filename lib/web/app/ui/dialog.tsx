// Modal dialogs: focus stays inside, Escape closes, unsaved edits are confirmed.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { discarding, useUnsaved } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from './button.tsx'
import { Toasts } from './toast.tsx'
import { isTop, openLayer } from './top-layer.ts'

type DialogProps = {
  title: string
  onClose: () => void
  children: ComponentChildren
  /** Buttons at the bottom. */
  actions?: ComponentChildren
  /** Adds a cancel button before the other buttons. */
  canCancel?: boolean
  /** Closing it requires confirmation. */
  isUnsaved?: boolean
  width?: 'narrow' | 'wide'
  class?: string
}

export function Dialog(props: DialogProps) {
  const { title, onClose, children, actions, canCancel } = props
  const { isUnsaved = false, width = 'narrow' } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useTopLayer(dialog)
  const isPressedBeside = useRef(false)
  useUnsaved(isUnsaved)
  const close = () => {
    if (isUnsaved) discarding.value = onClose
    else onClose()
  }
  return (
    <dialog
      class={['dialog', width, props.class].filter(Boolean).join(' ')}
      ref={dialog}
      aria-label={title}
      onCancel={(event: Event) => {
        if (event.target !== dialog.current) return
        event.preventDefault()
        close()
      }}
      // A browser may close it without `cancel` if Escape is pressed twice.
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return
        event.preventDefault()
        close()
      }}
      // Only a click that began outside closes it, because a text selection may end outside.
      onPointerDown={(event: PointerEvent) => {
        isPressedBeside.current = event.target === dialog.current
      }}
      onClick={(event: MouseEvent) => {
        if (isPressedBeside.current && event.target === dialog.current) close()
      }}
    >
      <div class="dialog-box">
        <header class="dialog-header">
          <h2>{title}</h2>
          <IconButton icon="close" label={t('action.close')} onClick={close} />
        </header>
        {/* Focusable, so that keys scroll it even without controls. */}
        <div class="dialog-content" tabIndex={-1}>
          {children}
        </div>
        {(actions || canCancel) && (
          <footer class="dialog-actions">
            {canCancel && <Button variant="quiet" text={t('action.cancel')} onClick={close} />}
            {actions}
          </footer>
        )}
      </div>
      <Toasts layer={id} />
    </dialog>
  )
}

/** Fields to type or choose in. */
const fields =
  ':is(input:not([type=checkbox], [type=radio], [type=file], [type=range]), select, textarea):enabled'

/** Opens the dialog above all others; returns its number among the open ones. */
function useTopLayer(dialog: { current: HTMLDialogElement | null }): object {
  const id = useRef({}).current
  const isFocused = useRef(false)
  /** The element the browser focused. */
  const first = useRef<Element | null>(null)
  useLayoutEffect(() => {
    const element = dialog.current!
    const close = openLayer(id)
    element.showModal()
    first.current = document.activeElement
    return () => {
      element.close()
      close()
    }
  }, [])
  // Focuses the first field as soon as it exists, not the close button, which comes first.
  useEffect(() => {
    const content = dialog.current!.querySelector<HTMLElement>('.dialog-content')!
    const { activeElement } = document
    if (isFocused.current || !isTop(id)) return
    const field = content.querySelector<HTMLElement>(fields)
    const isFirst =
      activeElement === first.current && activeElement?.matches('[autofocus]') === false
    first.current = null
    const isUntouched = isFirst || activeElement === content || activeElement === document.body
    isFocused.current = field !== null || !isUntouched
    if (isUntouched) (field && !isTouchScreen() ? field : content).focus()
  })
  return id
}

/** On touch screens, focusing a field opens the keyboard over half of the dialog. */
const isTouchScreen = () => matchMedia('(pointer: coarse)').matches

type Question = {
  title: string
  text: string
  /** Label of the button that does it. */
  action: string
  onConfirm: () => unknown
}

/** A confirmation that `ask` opens; `dialog` is to be shown. */
export function useConfirm(question: Question) {
  const [isOpen, setOpen] = useState(false)
  const dialog = isOpen && <ConfirmDialog {...question} onClose={() => setOpen(false)} />
  return { ask: () => setOpen(true), dialog }
}

type ConfirmProps = Question & { onClose: () => void }

/** Confirmation before an action that cannot be undone. */
export function ConfirmDialog({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  const confirm = async () => {
    await onConfirm()
    onClose()
  }
  const actions = (
    <>
      <Button variant="quiet" text={t('action.cancel')} autofocus onClick={onClose} />
      <Button variant="danger" text={action} onClick={confirm} />
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} actions={actions}>
      <p>{text}</p>
    </Dialog>
  )
}
