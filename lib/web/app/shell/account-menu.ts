// Menu of the signed-in account: its pages, theme, language, sign-out.

import { type Account, signOut } from '../api/session.ts'
import { href } from '../routing/router.ts'
import { discardBefore } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { Menu } from '../ui/menu.ts'
import { LanguageSelect, ThemeSelect } from './appearance.ts'

export function AccountMenu({ account }: { account: Account }) {
  return h(
    Menu,
    { label: t('account.menu', { name: account.username }), trigger: h(Icon, { name: 'account' }) },
    h('div', { class: 'menu-title' }, account.username),
    h(
      'a',
      { class: 'menu-item', href: href('account') },
      h(Icon, { name: 'account' }),
      t('account.title'),
    ),
    h('hr', null),
    h('div', { class: 'menu-field' }, h(ThemeSelect, null)),
    h('div', { class: 'menu-field' }, h(LanguageSelect, null)),
    h('hr', null),
    h(
      'button',
      { class: 'menu-item', type: 'button', onClick: () => discardBefore(signOut) },
      h(Icon, { name: 'signOut' }),
      t('account.signOut'),
    ),
  )
}
