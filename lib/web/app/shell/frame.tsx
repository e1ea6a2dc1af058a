// Frame of views: navigation at the side (on phones at the bottom), search and account at the top.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { assetUrl } from '../api/assets.ts'
import { type Account, account, can, type Permission, signOut } from '../api/session.ts'
import { address, follow, href } from '../routing/router.ts'
import { discardBefore } from '../routing/unsaved.ts'
import { type TextKey, t } from '../text/translate.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu, MenuLink } from '../ui/menu.tsx'
import { LanguageSelect, ThemeSelect } from './appearance.tsx'
import { GroupMenu, NavigationGroup, useNavigationGroups } from './navigation-groups.tsx'

type Entry = {
  path: string
  icon: IconName
  text: TextKey
  permission?: Permission
  /** Prefixes of other addresses that belong to the entry. */
  also?: readonly string[]
  /** Addresses below its own belong to another entry. */
  isAlone?: true
  isSecondary?: true
}

const entries: readonly Entry[] = [
  { path: '', icon: 'home', text: 'nav.home' },
  { path: 'series', icon: 'grid', text: 'label.series', also: ['books/'] },
  {
    path: 'books',
    icon: 'book',
    text: 'label.books',
    permission: 'BooksRead',
    isAlone: true,
    isSecondary: true,
  },
  { path: 'libraries', icon: 'library', text: 'nav.libraries' },
  {
    path: 'people',
    icon: 'users',
    text: 'nav.names',
    permission: 'SeriesRead',
    also: ['genres', 'tags', 'publishers'],
    isSecondary: true,
  },
  { path: 'collections', icon: 'collection', text: 'nav.collections', isSecondary: true },
  { path: 'readlists', icon: 'list', text: 'nav.readLists', isSecondary: true },
  { path: 'want-to-read', icon: 'bookmark', text: 'nav.wantToRead' },
  {
    path: 'releases',
    icon: 'release',
    text: 'nav.releases',
    permission: 'SeriesRead',
    isSecondary: true,
  },
  { path: 'statistics', icon: 'chart', text: 'nav.statistics', isSecondary: true },
  {
    path: 'admin',
    icon: 'settings',
    text: 'nav.admin',
    permission: 'LibrariesWrite',
    isSecondary: true,
  },
]

export function Frame({ children }: { children: ComponentChildren }) {
  const groups = useNavigationGroups()
  return (
    <>
      <a class="skip-link" href="#content" onClick={skipToContent}>
        {t('nav.skip')}
      </a>
      <div class="frame">
        <header class="frame-header">
          <a class="frame-brand" href={href('')}>
            <img src={brandIcon} alt="" />
            <span>Stackroom</span>
          </a>
          <SearchForm />
          {account.value && <AccountMenu account={account.value} />}
        </header>
        <nav class="frame-navigation" aria-label={t('nav.label')}>
          {entries
            .filter(({ permission }) => permission === undefined || can(permission))
            .map(entry => (
              <NavigationLink key={entry.path} entry={entry} />
            ))}
          {groups.map(group => (
            <NavigationGroup key={group.name} group={group} />
          ))}
          <FurtherPages groups={groups} />
        </nav>
        <main class="frame-content" id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  )
}

const brandIcon = assetUrl('icons/icon.svg')

function skipToContent(event: MouseEvent) {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

type FurtherPagesProps = { groups: ReturnType<typeof useNavigationGroups> }

/** On phones the secondary entries are in a menu; on tablets only libraries and saved filters. */
function FurtherPages({ groups }: FurtherPagesProps) {
  const isCurrent = entries.some(entry => entry.isSecondary && isCurrentPage(entry))
  const classes = ['navigation-more', isCurrent && 'current', groups.length > 0 && 'with-groups']
  return (
    <div class={classes.filter(Boolean).join(' ')}>
      <Menu
        label={t('action.more')}
        trigger={
          <>
            <Icon name="menu" />
            <span>{t('action.more')}</span>
          </>
        }
      >
        <div class="navigation-secondary">
          {entries
            .filter(
              ({ permission, isSecondary }) => isSecondary && (!permission || can(permission)),
            )
            .map(({ path, icon, text }) => (
              <MenuLink key={path} icon={icon} text={t(text)} href={href(path)} />
            ))}
        </div>
        {groups.map(group => (
          <GroupMenu key={group.name} group={group} />
        ))}
      </Menu>
    </div>
  )
}

function isCurrentPage({ path, also = [], isAlone }: Entry): boolean {
  const current = address.value.path
  if (path === '' || isAlone) return current === path
  if (also.some(prefix => current.startsWith(prefix))) return true
  return current === path || current.startsWith(`${path}/`)
}

function NavigationLink({ entry }: { entry: Entry }) {
  const { path, icon, text, isSecondary } = entry
  return (
    <a
      href={href(path)}
      class={`navigation-link${isSecondary ? ' secondary' : ''}`}
      aria-current={isCurrentPage(entry) ? 'page' : undefined}
      title={t(text)}
    >
      <Icon name={icon} />
      <span>{t(text)}</span>
    </a>
  )
}

/** Shows results while typing; `/` moves the focus here, and the down arrow to the results. */
function SearchForm() {
  const isResults = address.value.path === 'search'
  const query = isResults ? (address.value.query.get('q') ?? '') : ''
  const input = useRef<HTMLInputElement>(null)
  const search = (text: string) =>
    follow(`search?q=${encodeURIComponent(text)}`, { replace: isResults })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      const { activeElement } = document
      if (activeElement?.matches('input, textarea, select, dialog *, [contenteditable]')) return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown') return
    const first = document.querySelector<HTMLElement>('.frame-content .lists-link')
    if (!first) return
    event.preventDefault()
    first.focus()
  }
  return (
    <form
      class="search-field frame-search"
      role="search"
      onSubmit={event => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('q')
        if (typeof text === 'string' && text.trim()) search(text.trim())
        document.querySelector<HTMLElement>('.frame-content .lists-link')?.focus()
      }}
    >
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        name="q"
        value={query}
        placeholder={t('nav.search')}
        aria-label={t('nav.search')}
        autocomplete="off"
        maxLength={200}
        aria-keyshortcuts="/"
        onInput={event => search(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </form>
  )
}

function AccountMenu({ account }: { account: Account }) {
  return (
    <Menu label={t('account.menu', { name: account.username })} trigger={<Icon name="account" />}>
      <div class="menu-title">{account.username}</div>
      <MenuLink icon="account" text={t('account.title')} href={href('account')} />
      <MenuLink icon="key" text={t('apps.connect')} href={href('account/keys')} />
      <hr />
      <div class="menu-field">
        <ThemeSelect />
      </div>
      <div class="menu-field">
        <LanguageSelect />
      </div>
      <hr />
      <button class="menu-item" type="button" onClick={() => discardBefore(signOut)}>
        <Icon name="signOut" isDirectional />
        {t('account.signOut')}
      </button>
    </Menu>
  )
}
