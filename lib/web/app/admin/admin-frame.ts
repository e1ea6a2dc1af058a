// Frame of the administration pages: navigation between them above the heading of the page.
import { type ComponentChildren, Fragment } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { can } from '../api/session.ts'
import { address, href } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Icon, type IconName } from '../ui/icon.ts'
import { PageHeader } from '../ui/page-header.ts'

type Entry = { path: string; icon: IconName; text: TextKey; permission: string }

const entries: readonly Entry[] = [
  { path: 'admin', icon: 'chart', text: 'admin.overview', permission: 'LibrariesWrite' },
  {
    path: 'admin/libraries',
    icon: 'library',
    text: 'nav.libraries',
    permission: 'LibrariesWrite',
  },
  { path: 'admin/tasks', icon: 'tasks', text: 'admin.tasks', permission: 'TasksRead' },
  { path: 'admin/errors', icon: 'error', text: 'admin.errors', permission: 'BooksWrite' },
  { path: 'admin/duplicates', icon: 'copy', text: 'admin.duplicates', permission: 'BooksWrite' },
  { path: 'admin/users', icon: 'users', text: 'admin.users', permission: 'UsersRead' },
  { path: 'admin/settings', icon: 'settings', text: 'admin.settings', permission: 'SystemAdmin' },
  { path: 'admin/health', icon: 'pulse', text: 'admin.health', permission: 'LibrariesWrite' },
]

type AdminFrameProps = {
  /** Heading of the page and title of the window. */
  title: string
  subtitle?: ComponentChildren
  /** Buttons and menus beside the heading. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** `h(AdminFrame, { title, actions }, content)`. Needs the style sheet `admin/admin.css`. */
export function AdminFrame({ title, subtitle, actions, children }: AdminFrameProps) {
  return h(
    Fragment,
    null,
    h(AdminNavigation, null),
    h(PageHeader, { title, subtitle, actions }),
    children,
  )
}

function AdminNavigation() {
  const navigation = useRef<HTMLElement>(null)
  const { path } = address.value
  // On narrow screens the entry of the page may be outside of the visible part.
  useLayoutEffect(() => {
    const current = navigation.current?.querySelector('[aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [path])
  const shown = entries.filter(({ permission }) => can(permission))
  return h(
    'nav',
    { class: 'admin-navigation', 'aria-label': t('nav.admin'), ref: navigation },
    shown.map(entry => {
      const isCurrent =
        path === entry.path || (entry.path !== 'admin' && path.startsWith(`${entry.path}/`))
      return h(
        'a',
        {
          href: href(entry.path),
          class: 'admin-navigation-link',
          'aria-current': isCurrent ? 'page' : undefined,
          key: entry.path,
        },
        h(Icon, { name: entry.icon, size: 18 }),
        t(entry.text),
      )
    }),
  )
}
