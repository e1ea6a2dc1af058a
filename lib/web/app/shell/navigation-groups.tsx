// Libraries and saved filters by name: below the entries of the navigation in wide windows, in its menu in others.
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { useLibraries } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { readStorage, writeStorage } from '../api/storage.ts'
import { pathOfPreset, usePresets } from '../browse/filters/presets.ts'
import { useReloadOnEvents } from '../lists/list-events.ts'
import { address, href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { MenuLink } from '../ui/menu.tsx'

/** More are on the page of all, or behind a button. */
const maxShown = 6

type GroupLink = { path: string; text: string }
type Group = {
  name: 'libraries' | 'filters'
  title: string
  icon: 'library' | 'filter'
  links: readonly GroupLink[]
  /** The page with all; without one a button shows the others. */
  all?: GroupLink
}

/** Groups without links are left out. */
export function useNavigationGroups(): readonly Group[] {
  const { data: libraries = [], reload } = useLibraries(can('LibrariesRead'))
  useReloadOnEvents(event => event.type.startsWith('library_'), reload)
  const presets = usePresets() ?? []
  const groups: Group[] = [
    {
      ...{ name: 'libraries', title: t('nav.libraries'), icon: 'library' },
      links: libraries.map(({ id, name }) => ({ path: `libraries/${id}`, text: name })),
      all: { path: 'libraries', text: t('nav.allLibraries', { count: libraries.length }) },
    },
    {
      ...{ name: 'filters', title: t('filter.presets'), icon: 'filter' },
      links: presets.map(preset => ({ path: pathOfPreset(preset), text: preset.name })),
    },
  ]
  return groups.filter(({ links }) => links.length > 0)
}

type ShownLinks = { links: readonly GroupLink[]; more: ComponentChildren }

function useShownLinks({ links, all }: Group, className: string): ShownLinks {
  const [isWhole, setWhole] = useState(false)
  const count = links.length - maxShown
  if (count <= 0 || isWhole) return { links, more: null }
  const shown = links.slice(0, maxShown)
  if (all) return { links: [...shown, all], more: null }
  const more = (
    <button type="button" class={className} onClick={() => setWhole(true)}>
      {t('details.moreItems', { count })}
    </button>
  )
  return { links: shown, more }
}

const storageKey = (name: string) => `stackroom.navigation.${name}`

/** Rows that can be hidden. */
export function NavigationGroup({ group }: { group: Group }) {
  const { name, title } = group
  const id = useId()
  const [isOpen, setOpen] = useState(readStorage(storageKey(name)) !== 'closed')
  const { links, more } = useShownLinks(group, 'navigation-sublink')
  const toggle = () => {
    writeStorage(storageKey(name), isOpen ? 'closed' : null)
    setOpen(!isOpen)
  }
  return (
    <div class="navigation-group">
      <button
        type="button"
        class="navigation-heading"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={toggle}
      >
        <span>{title}</span>
        <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} size={16} />
      </button>
      <ul id={id} hidden={!isOpen}>
        {links.map(({ path, text }) => (
          <li key={path}>
            <a
              class="navigation-sublink"
              href={href(path)}
              aria-current={isCurrent(path) ? 'page' : undefined}
              title={text}
            >
              <span dir="auto">{text}</span>
            </a>
          </li>
        ))}
        {more && <li>{more}</li>}
      </ul>
    </div>
  )
}

/** The same as entries of a menu. */
export function GroupMenu({ group }: { group: Group }) {
  const { links, more } = useShownLinks(group, 'menu-more')
  return (
    <>
      <div class="menu-title">{group.title}</div>
      {links.map(({ path, text }) => (
        <MenuLink key={path} icon={group.icon} text={text} href={href(path)} />
      ))}
      {more}
    </>
  )
}

function isCurrent(path: string): boolean {
  const [target, query = ''] = path.split('?', 2)
  const current = address.value
  return current.path === target && (query === '' || current.query.toString() === query)
}
