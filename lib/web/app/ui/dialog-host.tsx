// Dialogs loaded when opened, from any view; the shell shows them.
import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { onSignOut } from '../api/session.ts'
import { loadPart } from '../routing/load-view.ts'

type Opened = { id: number; Content: FunctionComponent }

const opened = signal<readonly Opened[]>([])
let lastId = 0
onSignOut(() => {
  opened.value = []
})

/**
 * Opens a dialog: a component that gets `onClose` besides its properties. Resolves when it is shown; throws if it
 * cannot be loaded.
 */
export async function openDialog<P extends object>(
  load: () => Promise<FunctionComponent<P & { onClose: () => void }>>,
  props: P,
  styles: readonly string[] = [],
): Promise<void> {
  const opener = focusedOpener()
  const Dialog = await loadPart(load, styles)
  const id = ++lastId
  const onClose = () => {
    opened.value = opened.value.filter(dialog => dialog.id !== id)
    opener?.focus()
  }
  const Content = () => <Dialog {...props} onClose={onClose} />
  opened.value = [...opened.value, { id, Content }]
}

/** The focused element, or the button of a closing menu. */
function focusedOpener(): HTMLElement | null {
  const focused = document.activeElement as HTMLElement | null
  return focused?.closest('.menu')?.querySelector<HTMLElement>('button') ?? focused
}

export function DialogHost() {
  return opened.value.map(({ id, Content }) => <Content key={id} />)
}
