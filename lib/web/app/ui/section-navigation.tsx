// Navigation between the pages of a section, such as the administration, above the heading of the page.
import { useLayoutEffect, useRef } from 'preact/hooks'
import { can, type Permission } from '../api/session.ts'
import { address, href } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { Icon, type IconName } from './icon.tsx'

export type SectionEntry = {
  path: string
  icon: IconName
  text: TextKey
  /** Permission required for the page. */
  permission?: Permission
}

type SectionNavigationProps = { label: string; entries: readonly SectionEntry[] }

/** The first entry is the section's start page; its address is the prefix of the others. */
export function SectionNavigation({ label, entries }: SectionNavigationProps) {
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
