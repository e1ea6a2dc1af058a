// Page heading with actions; also sets the window title.
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

type PageHeaderProps = {
  title: string
  subtitle?: ComponentChildren
  /** Buttons and menus. */
  actions?: ComponentChildren
}

export function PageHeader({ title, subtitle, actions }: PageHeaderProps) {
  useTitle(title)
  return (
    <header class="page-header">
      <div class="page-heading">
        <h1>{title}</h1>
        {subtitle && <div class="subtitle">{subtitle}</div>}
      </div>
      {actions && <div class="row page-actions">{actions}</div>}
    </header>
  )
}

/** Sets the window title while the component is shown. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} – Stackroom` : 'Stackroom'
  }, [title])
}
