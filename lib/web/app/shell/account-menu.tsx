// Account menu: pages, theme, language, sign-out.

import { type Account, signOut } from '../api/session.ts'
import { href } from '../routing/router.ts'
import { discardBefore } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuLink } from '../ui/menu.tsx'
import { LanguageSelect, ThemeSelect } from './appearance.tsx'

export function AccountMenu({ account }: { account: Account }) {
  return (
    <Menu label={t('account.menu', { name: account.username })} trigger={<Icon name="account" />}>
      <div class="menu-title">{account.username}</div>
      <MenuLink icon="account" text={t('account.title')} href={href('account')} />
      <hr />
      <div class="menu-field">
        <ThemeSelect />
      </div>
      <div class="menu-field">
        <LanguageSelect />
      </div>
      <hr />
      <button class="menu-item" type="button" onClick={() => discardBefore(signOut)}>
        <Icon name="signOut" />
        {t('account.signOut')}
      </button>
    </Menu>
  )
}
