// Frame of the views: navigation at the side or, on phones, at the bottom; search and account at the top.
import { type ComponentChildren, Fragment } from 'preact'
import { account, can } from '../api/session.ts'
import { address, href, navigate } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Icon, type IconName } from '../ui/icon.ts'
import { AccountMenu } from './account-menu.ts'

type Entry = {
  path: string
  icon: IconName
  text: TextKey
  permission?: string
  isSecondary?: true
}

const entries: readonly Entry[] = [
  { path: '', icon: 'home', text: 'nav.home' },
  { path: 'series', icon: 'grid', text: 'nav.series' },
  { path: 'libraries', icon: 'library', text: 'nav.libraries', isSecondary: true },
  { path: 'collections', icon: 'collection', text: 'nav.collections', isSecondary: true },
  { path: 'readlists', icon: 'list', text: 'nav.readLists', isSecondary: true },
  { path: 'want-to-read', icon: 'bookmark', text: 'nav.wantToRead' },
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
  return h(
    Fragment,
    null,
    h('a', { class: 'skip-link', href: '#content', onClick: skipToContent }, t('nav.skip')),
    h(
      'div',
      { class: 'frame' },
      h(
        'header',
        { class: 'frame-header' },
        h(
          'a',
          { class: 'frame-brand', href: href('') },
          h('img', { src: brandIcon, alt: '' }),
          h('span', null, 'Stackroom'),
        ),
        h(SearchForm, null),
        account.value && h(AccountMenu, { account: account.value }),
      ),
      h(
        'nav',
        { class: 'frame-navigation', 'aria-label': t('nav.label') },
        entries
          .filter(({ permission }) => permission === undefined || can(permission))
          .map(entry => h(NavigationLink, { entry, key: entry.path })),
      ),
      h('main', { class: 'frame-content', id: 'content', tabIndex: -1 }, children),
    ),
  )
}

const brandIcon = new URL('../icons/icon.svg', import.meta.url).href

function skipToContent(event: MouseEvent) {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

function NavigationLink({ entry: { path, icon, text, isSecondary } }: { entry: Entry }) {
  const current = address.value.path
  const isCurrent =
    path === '' ? current === '' : current === path || current.startsWith(`${path}/`)
  return h(
    'a',
    {
      href: href(path),
      class: `navigation-link${isSecondary ? ' secondary' : ''}`,
      'aria-current': isCurrent ? 'page' : undefined,
    },
    h(Icon, { name: icon }),
    h('span', null, t(text)),
  )
}

function SearchForm() {
  const query = address.value.path === 'search' ? (address.value.query.get('q') ?? '') : ''
  const search = (text: string) =>
    navigate(`search?q=${encodeURIComponent(text)}`, { replace: address.value.path === 'search' })
  return h(
    'form',
    {
      class: 'frame-search',
      role: 'search',
      onSubmit: event => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('q')
        if (typeof text === 'string' && text.trim()) search(text.trim())
      },
    },
    h(Icon, { name: 'search' }),
    h('input', {
      type: 'search',
      name: 'q',
      value: query,
      placeholder: t('nav.search'),
      'aria-label': t('nav.search'),
      autocomplete: 'off',
      maxLength: 200,
      'aria-keyshortcuts': '/',
      onInput: event => {
        if (address.value.path === 'search') search(event.currentTarget.value)
      },
    }),
  )
}
