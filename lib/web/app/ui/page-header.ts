// Heading of a page with its actions, which also sets the title of the window.
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { h } from './h.ts'

type PageHeaderProps = {
  title: string
  subtitle?: ComponentChildren
  /** Buttons and menus. */
  actions?: ComponentChildren
}

export function PageHeader({ title, subtitle, actions }: PageHeaderProps) {
  useTitle(title)
  return h(
    'header',
    { class: 'page-header' },
    h(
      'div',
      { class: 'page-heading' },
      h('h1', null, title),
      subtitle && h('div', { class: 'subtitle' }, subtitle),
    ),
    actions && h('div', { class: 'page-actions' }, actions),
  )
}

/** Sets the title of the window while the component is shown. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} – Stackroom` : 'Stackroom'
  }, [title])
}
