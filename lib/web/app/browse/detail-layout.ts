// Layout of the pages of a series and of a book: cover beside title, facts and actions.
import type { ComponentChildren } from 'preact'
import { Cover, type CoverOwner } from '../ui/cover.ts'
import { h } from '../ui/h.ts'
import { useTitle } from '../ui/page-header.ts'

type DetailProps = {
  owner: CoverOwner
  id: string
  title: string
  /** Above the title. */
  above?: ComponentChildren
  subtitle?: ComponentChildren
  actions: ComponentChildren
  children: ComponentChildren
}

export function DetailLayout(props: DetailProps) {
  const { owner, id, title, above, subtitle, actions, children } = props
  useTitle(title)
  return h(
    'article',
    { class: 'browse-detail' },
    h('div', { class: 'browse-detail-cover' }, h(Cover, { owner, id, isEager: true })),
    h(
      'header',
      { class: 'browse-detail-header' },
      above && h('div', { class: 'browse-detail-above' }, above),
      h('h1', { dir: 'auto' }, title),
      subtitle && h('div', { class: 'browse-detail-subtitle' }, subtitle),
    ),
    h('div', { class: 'browse-detail-actions' }, actions),
    h('div', { class: 'browse-detail-content' }, children),
  )
}
