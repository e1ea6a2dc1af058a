// Unsaved edits: known as long as there are some, so that nothing throws them away without a question.
import { signal } from '@preact/signals'
import { useLayoutEffect, useState } from 'preact/hooks'

const edited = new Set<object>()

/** An action that loses unsaved edits; null for none. The application shows the question. */
export const discarding = signal<(() => unknown) | null>(null)

/** Whether the forms of the view or of a dialog have unsaved edits. */
export const hasUnsaved = () => edited.size > 0

/** Runs an action that loses all unsaved edits: at once if there are none, otherwise after the question. */
export function discardBefore(action: () => unknown) {
  if (hasUnsaved()) discarding.value = action
  else action()
}

// Closing the window, loading it again and addresses of elsewhere: the browser has a question of its own.
const warn = (event: BeforeUnloadEvent) => event.preventDefault()

/** Announces unsaved edits of the calling component while there are some. */
export function useUnsaved(isUnsaved: boolean) {
  // Before the next key or click.
  useLayoutEffect(() => {
    if (!isUnsaved) return
    const form = {}
    edited.add(form)
    // Browsers do not store a page with this listener for going back.
    addEventListener('beforeunload', warn)
    return () => {
      edited.delete(form)
      if (!hasUnsaved()) removeEventListener('beforeunload', warn)
    }
  }, [isUnsaved])
}

/** Whether the values of a form differ from those at first or of the last call of `setSaved`. */
export function useEdited(values: unknown): { isEdited: boolean; setSaved: () => void } {
  const text = JSON.stringify(values)
  const [saved, setSaved] = useState(text)
  return { isEdited: text !== saved, setSaved: () => setSaved(text) }
}
