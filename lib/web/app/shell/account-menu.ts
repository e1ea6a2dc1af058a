// Menu of the signed-in account: its pages, theme, language, sign-out.

import { type Account, signOut } from '../api/session.ts'
import { href } from '../routing/router.ts'
import { chooseLanguage, type Language, language, languages, t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { Menu } from '../ui/menu.ts'
import { type Theme, theme, themes } from './theme.ts'

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
    h(
      'label',
      { class: 'menu-field' },
      t('theme.label'),
      h(
        'select',
        {
          value: theme.value,
          onChange: event => {
            theme.value = event.currentTarget.value as Theme
          },
        },
        themes.map(name => h('option', { value: name, key: name }, t(`theme.${name}`))),
      ),
    ),
    h(
      'label',
      { class: 'menu-field' },
      t('language.label'),
      h(
        'select',
        {
          value: language.value,
          onChange: event => void chooseLanguage(event.currentTarget.value as Language),
        },
        Object.entries(languages).map(([tag, name]) =>
          h('option', { value: tag, key: tag, lang: tag }, name),
        ),
      ),
    ),
    h('hr', null),
    h(
      'button',
      { class: 'menu-item', type: 'button', onClick: () => void signOut() },
      h(Icon, { name: 'signOut' }),
      t('account.signOut'),
    ),
  )
}
