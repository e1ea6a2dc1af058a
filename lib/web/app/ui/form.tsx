// Forms: one request at a time, with its error above the buttons.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../text/error-message.ts'

type FormProps = {
  /** Its failure is shown in the form. */
  onSubmit: () => Promise<unknown>
  children: ComponentChildren
  id?: string
}

export function Form({ onSubmit, children, id }: FormProps) {
  const [error, setError] = useState<unknown>(null)
  const [isRunning, setRunning] = useState(false)
  const submit = async () => {
    setRunning(true)
    setError(null)
    try {
      await onSubmit()
    } catch (error) {
      setError(error)
    } finally {
      setRunning(false)
    }
  }
  // The error refers to the sent values, not the current ones.
  const forgetError = () => setError(null)
  return (
    <form
      class="form"
      id={id}
      onInput={forgetError}
      onClick={event => {
        if ((event.target as Element).closest('button[type=button]')) forgetError()
      }}
      onSubmit={event => {
        event.preventDefault()
        if (!isRunning) void submit()
      }}
    >
      {error !== null && (
        <p class="form-error" role="alert">
          {messageOf(error)}
        </p>
      )}
      <div class="form-fields" aria-busy={isRunning || undefined}>
        {children}
      </div>
    </form>
  )
}
