// Forms: the request runs once at a time, and its error stands above the buttons.
import { useState } from 'preact/hooks'
import { messageOf } from '../text/error-message.ts'
import { type ComponentChildren, h } from './h.ts'

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
  // It is about what was sent, not about what is entered now.
  const forgetError = () => setError(null)
  return h(
    'form',
    {
      class: 'form',
      id,
      onInput: forgetError,
      onClick: event => {
        if ((event.target as Element).closest('button[type=button]')) forgetError()
      },
      onSubmit: event => {
        event.preventDefault()
        if (!isRunning) void submit()
      },
    },
    error !== null && h('p', { class: 'form-error', role: 'alert' }, messageOf(error)),
    h('div', { class: 'form-fields', 'aria-busy': isRunning || undefined }, children),
  )
}
