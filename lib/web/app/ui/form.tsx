// Forms: one request at a time, with its error above the buttons.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../text/error-message.ts'
import { Button } from './button.tsx'

type FormProps = {
  /** Its failure is shown in the form. */
  onSubmit: () => Promise<unknown>
  children: ComponentChildren
  id?: string
  /** Text of the button below the fields. */
  submit?: string
}

export function Form({ onSubmit, children, id, submit: submitText }: FormProps) {
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
      <FormError text={error !== null && messageOf(error)} />
      <div class="form-fields" aria-busy={isRunning || undefined}>
        {children}
        {submitText && <Button type="submit" variant="primary" text={submitText} />}
      </div>
    </form>
  )
}

/** Renders nothing without a text. */
export function FormError({ text }: { text: string | null | undefined | false }) {
  if (!text) return null
  return (
    <p class="form-error" role="alert">
      {text}
    </p>
  )
}
