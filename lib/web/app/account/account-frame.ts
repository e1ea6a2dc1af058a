// Frame of the pages of the signed-in account: navigation between them above the heading.
import { Fragment } from 'preact'
import { can } from '../api/session.ts'
import { address, href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { type ComponentChildren, h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { PageHeader } from '../ui/page-header.ts'

const entries = [
  { path: 'account', icon: 'account', text: 'account.profile', permission: null },
  { path: 'account/keys', icon: 'key', text: 'keys.title', permission: 'ApiKeysRead' },
] as const

type AccountFrameProps = { title: string; actions?: ComponentChildren; children: ComponentChildren }

export function AccountFrame({ title, actions, children }: AccountFrameProps) {
  const { path } = address.value
  const shown = entries.filter(({ permission }) => permission === null || can(permission))
  return h(
    Fragment,
    null,
    h(
      'nav',
      { class: 'account-navigation', 'aria-label': t('account.title') },
      shown.map(entry =>
        h(
          'a',
          {
            href: href(entry.path),
            'aria-current': path === entry.path ? 'page' : undefined,
            key: entry.path,
          },
          h(Icon, { name: entry.icon, size: 18 }),
          t(entry.text),
        ),
      ),
    ),
    h(PageHeader, { title, actions }),
    children,
  )
}
