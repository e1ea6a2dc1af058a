// Buttons with a running state, buttons with only an icon, and links that look like buttons.
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { href } from '../routing/router.ts'
import { Icon, type IconName } from './icon.tsx'
import { showError } from './toast.tsx'

type ButtonProps = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, 'onClick' | 'icon'> & {
  /** The button is inactive while the returned promise is pending; a failure is shown as a toast. */
  onClick?: (event: MouseEvent) => unknown
  icon?: IconName
  variant?: 'primary' | 'danger' | 'quiet'
  text?: string
  /** In place of the text. */
  children?: ComponentChildren
}

export function Button(props: ButtonProps) {
  const { onClick, icon, variant, text, children, class: extra, ...rest } = props
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
      {text ?? children}
    </button>
  )
}

type IconButtonProps = Omit<ButtonProps, 'variant' | 'text' | 'children'> & {
  icon: IconName
  label: string
  isFramed?: boolean
}

/** A button with only an icon; `label` is its accessible name and tooltip. */
export function IconButton({ label, isFramed = false, class: extra, ...rest }: IconButtonProps) {
  const classes = [!isFramed && 'quiet', 'icon-button', extra].filter(Boolean).join(' ')
  return <Button {...rest} class={classes} aria-label={label} title={label} />
}

type ButtonLinkProps = { path: string; icon?: IconName; text: string; class?: string }

/** `path`: of the application. */
export function ButtonLink({ path, icon, text, class: extra }: ButtonLinkProps) {
  return (
    <a class={['button', extra].filter(Boolean).join(' ')} href={href(path)}>
      {icon && <Icon name={icon} />}
      {text}
    </a>
  )
}
