// Page heading with actions, and the navigation between the pages of a section above it.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { can, type Permission } from '../api/session.ts'
import { address, href } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { Icon, type IconName } from './icon.tsx'

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

export type SectionEntry = {
  path: string
  icon: IconName
  text: TextKey
  /** Permission required for the page. */
  permission?: Permission
}

type SectionNavigationProps = { label: string; entries: readonly SectionEntry[] }
export type SectionPageProps = PageHeaderProps & { children: ComponentChildren }

/** A page of a section: the navigation between its pages, the heading, the content. */
export function SectionPage(props: SectionPageProps & SectionNavigationProps) {
  const { label, entries, children, ...header } = props
  return (
    <>
      <SectionNavigation label={label} entries={entries} />
      <PageHeader {...header} />
      {children}
    </>
  )
}

/** The first entry is the section's start page; its address is the prefix of the others. */
function SectionNavigation({ label, entries }: SectionNavigationProps) {
  const navigation = useRef<HTMLElement>(null)
  const { path } = address.value
  // On narrow screens the current entry may be out of view.
  useLayoutEffect(() => {
    const current = navigation.current?.querySelector('[aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [path])
  const shown = entries.filter(({ permission }) => permission === undefined || can(permission))
  return (
    <nav class="section-navigation" aria-label={label} ref={navigation}>
      {shown.map(({ path: target, icon, text }) => {
        const isCurrent =
          path === target || (target !== entries[0]!.path && path.startsWith(`${target}/`))
        return (
          <a
            key={target}
            href={href(target)}
            class="section-navigation-link"
            aria-current={isCurrent ? 'page' : undefined}
          >
            <Icon name={icon} size={18} />
            {t(text)}
          </a>
        )
      })}
    </nav>
  )
}
