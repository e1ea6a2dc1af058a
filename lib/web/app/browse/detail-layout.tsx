// Layout of series and book pages: cover beside title, facts and actions.
import type { ComponentChildren } from 'preact'
import { Cover, type CoverOwner } from '../ui/cover.tsx'
import { useTitle } from '../ui/page-header.tsx'

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
  return (
    <article class="browse-detail">
      <div class="browse-detail-cover">
        <Cover owner={owner} id={id} isEager />
      </div>
      <header class="browse-detail-header">
        {above && <div class="browse-detail-above">{above}</div>}
        <h1 dir="auto">{title}</h1>
        {subtitle && <div class="browse-detail-subtitle">{subtitle}</div>}
      </header>
      <div class="browse-detail-actions">{actions}</div>
      <div class="browse-detail-content">{children}</div>
    </article>
  )
}
