// Unsaved edits, tracked so that they are never discarded without confirmation.
import { signal } from '@preact/signals'
import { useLayoutEffect, useState } from 'preact/hooks'

const edited = new Set<object>()

/** A pending action that would lose unsaved edits; null for none. The application shows the confirmation. */
export const discarding = signal<(() => unknown) | null>(null)

/** Whether the forms of the view or of a dialog have unsaved edits. */
export const hasUnsaved = () => edited.size > 0

/** Runs an action that loses all unsaved edits: immediately if there are none, otherwise after confirmation. */
export function discardBefore(action: () => unknown) {
  if (hasUnsaved()) discarding.value = action
  else action()
}

// Closing, reloading or leaving the site: the browser shows its own confirmation.
const warn = (event: BeforeUnloadEvent) => event.preventDefault()

/** Registers unsaved edits of the calling component. */
export function useUnsaved(isUnsaved: boolean) {
  // Synchronous, to precede the next key or click.
  useLayoutEffect(() => {
    if (!isUnsaved) return
    const form = {}
    edited.add(form)
    // Pages with this listener are not stored in the back/forward cache.
    addEventListener('beforeunload', warn)
    return () => {
      edited.delete(form)
      if (!hasUnsaved()) removeEventListener('beforeunload', warn)
    }
  }, [isUnsaved])
}

/** Whether the values of a form differ from the initial ones or the last call of `setSaved`. */
export function useEdited(values: unknown): { isEdited: boolean; setSaved: () => void } {
  const text = JSON.stringify(values)
  const [saved, setSaved] = useState(text)
  return { isEdited: text !== saved, setSaved: () => setSaved(text) }
}
