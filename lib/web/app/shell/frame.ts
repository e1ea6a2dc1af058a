// Frame of the views: navigation at the side or, on phones, at the bottom; search and account at the top.

import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { assetUrl } from '../api/assets.ts'
import { account, can } from '../api/session.ts'
import { address, follow, href } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { Icon, type IconName } from '../ui/icon.ts'
import { Menu } from '../ui/menu.ts'
import { AccountMenu } from './account-menu.ts'

type Entry = {
  path: string
  icon: IconName
  text: TextKey
  permission?: string
  /** Beginning of further addresses that belong to it. */
  also?: string
  isSecondary?: true
}

const entries: readonly Entry[] = [
  { path: '', icon: 'home', text: 'nav.home' },
  { path: 'series', icon: 'grid', text: 'nav.series', also: 'books/' },
  { path: 'libraries', icon: 'library', text: 'nav.libraries' },
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
        h(FurtherPages, null),
      ),
      h('main', { class: 'frame-content', id: 'content', tabIndex: -1 }, children),
    ),
  )
}

const brandIcon = assetUrl('icons/icon.svg')

function skipToContent(event: MouseEvent) {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

/** On phones the secondary entries are in a menu. */
function FurtherPages() {
  const isCurrent = entries.some(entry => entry.isSecondary && isCurrentPage(entry))
  return h(
    'div',
    { class: `navigation-more${isCurrent ? ' current' : ''}` },
    h(
      Menu,
      {
        label: t('nav.more'),
        trigger: [
          h(Icon, { name: 'menu', key: 'icon' }),
          h('span', { key: 'text' }, t('nav.more')),
        ],
      },
      entries
        .filter(({ permission, isSecondary }) => isSecondary && (!permission || can(permission)))
        .map(({ path, icon, text }) =>
          h(
            'a',
            { class: 'menu-item', href: href(path), key: path },
            h(Icon, { name: icon }),
            t(text),
          ),
        ),
    ),
  )
}

function isCurrentPage({ path, also }: Entry): boolean {
  const current = address.value.path
  if (path === '') return current === ''
  if (also !== undefined && current.startsWith(also)) return true
  return current === path || current.startsWith(`${path}/`)
}

function NavigationLink({ entry }: { entry: Entry }) {
  const { path, icon, text, isSecondary } = entry
  return h(
    'a',
    {
      href: href(path),
      class: `navigation-link${isSecondary ? ' secondary' : ''}`,
      'aria-current': isCurrentPage(entry) ? 'page' : undefined,
      title: t(text),
    },
    h(Icon, { name: icon }),
    h('span', null, t(text)),
  )
}

/** Results are shown as one types; `/` moves the focus here, and the arrow key down to the results. */
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
  return h(
    'form',
    {
      class: 'search-field frame-search',
      role: 'search',
      onSubmit: event => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('q')
        if (typeof text === 'string' && text.trim()) search(text.trim())
        document.querySelector<HTMLElement>('.frame-content .lists-link')?.focus()
      },
    },
    h(Icon, { name: 'search' }),
    h('input', {
      ref: input,
      type: 'search',
      name: 'q',
      value: query,
      placeholder: t('nav.search'),
      'aria-label': t('nav.search'),
      autocomplete: 'off',
      maxLength: 200,
      'aria-keyshortcuts': '/',
      onInput: event => search(event.currentTarget.value),
      onKeyDown,
    }),
  )
}
