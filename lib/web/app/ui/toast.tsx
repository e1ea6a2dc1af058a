// Short messages at the bottom of the window: results of actions, and errors.
import { signal } from '@preact/signals'
import { messageOf } from '../text/error-message.ts'
import { isTop } from './top-layer.ts'

type Toast = { id: number; text: string; kind: 'notice' | 'error'; action?: ToastAction }
type ToastAction = { text: string; run: () => unknown }

const shownMs = 6_000
const maxToasts = 4
const toasts = signal<readonly Toast[]>([])
let lastId = 0

function show(toast: Omit<Toast, 'id'>) {
  const id = ++lastId
  toasts.value = [...toasts.value, { ...toast, id }].slice(-maxToasts)
  setTimeout(() => close(id), shownMs)
}

const close = (id: number) => {
  toasts.value = toasts.value.filter(toast => toast.id !== id)
}

/** Confirms an action, optionally with another one such as Undo. */
export const showNotice = (text: string, action?: ToastAction) =>
  show({ text, kind: 'notice', ...(action && { action }) })

/** Shows an error of the API or the application; ignores aborted requests. */
export function showError(error: unknown) {
  if (error instanceof DOMException && error.name === 'AbortError') return
  show({ text: messageOf(error), kind: 'error' })
}

async function runAction({ run }: ToastAction) {
  try {
    await run()
  } catch (error) {
    showError(error)
  }
}

/** `layer`: the dialog that shows them while it is topmost; null for the page. */
export function Toasts({ layer }: { layer: object | null }) {
  if (!isTop(layer)) return null
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind, action }) => (
        <div key={id} class={kind === 'error' ? 'toast error' : 'toast'}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              class="toast-action"
              onClick={() => {
                close(id)
                void runAction(action)
              }}
            >
              {action.text}
            </button>
          )}
        </div>
      ))}
    </div>
  )
}
