// Buttons with a running state, and buttons with only an icon.
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { showError } from './toast.tsx'

type ButtonProps = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, 'onClick' | 'icon'> & {
  /** The button is inactive while the returned promise is pending; a failure is shown as a toast. */
  onClick?: (event: MouseEvent) => unknown
  icon?: IconName
  variant?: 'primary' | 'danger' | 'quiet'
  children?: ComponentChildren
}

export function Button({ onClick, icon, variant, children, class: extra, ...rest }: ButtonProps) {
  const [isRunning, setRunning] = useState(false)
  const click = async (event: MouseEvent) => {
    // A disabled button would lose the focus.
    if (isRunning) return event.preventDefault()
    const result = onClick?.(event)
    if (!(result instanceof Promise)) return
    setRunning(true)
    try {
      await result
    } catch (error) {
      showError(error)
    } finally {
      setRunning(false)
    }
  }
  const classes = ['button', variant, extra].filter(Boolean).join(' ')
  return (
    <button
      type="button"
      {...rest}
      class={classes}
      aria-disabled={isRunning || undefined}
      aria-busy={isRunning || undefined}
      onClick={click}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

type IconButtonProps = Omit<ButtonProps, 'children'> & { icon: IconName; label: string }

/** A button with only an icon; `label` is its accessible name and tooltip. */
export function IconButton({ label, class: extra, ...rest }: IconButtonProps) {
  const classes = ['icon-button', extra].filter(Boolean).join(' ')
  return <Button {...rest} class={classes} aria-label={label} title={label} />
}
