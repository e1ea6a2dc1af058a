// Layout of series and book pages: cover beside title, facts and actions. An action of both.
import type { ComponentChildren } from 'preact'
import { setWantToRead } from '../organize/actions.ts'
import type { Selection } from '../organize/read-state.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Cover, type CoverOwner } from '../ui/cover.tsx'
import { useTitle } from '../ui/page-header.tsx'

type DetailProps = {
  owner: CoverOwner
  id: string
  title: string
  /** The link above the title. */
  above: { path: string; name: string }
  /** Parts of the line below the title; empty ones are left out. */
  subtitle: readonly ComponentChildren[]
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
        <div class="browse-detail-above">
          <a href={href(above.path)} dir="auto">
            {above.name}
          </a>
        </div>
        <h1 dir="auto">{title}</h1>
        <div class="browse-detail-subtitle">
          {subtitle.filter(Boolean).map((part, key) => (
            <span key={key}>{part}</span>
          ))}
        </div>
      </header>
      <div class="row browse-detail-actions">{actions}</div>
      <div class="browse-detail-content">{children}</div>
    </article>
  )
}

type WantToReadProps<T> = { selection: Selection; item: T; onChange: (item: T) => void }

export function WantToReadButton<T extends { wantToRead: boolean }>(props: WantToReadProps<T>) {
  const { selection, item, onChange } = props
  const { wantToRead } = item
  const toggle = async () => {
    await setWantToRead(selection, !wantToRead)
    onChange({ ...item, wantToRead: !wantToRead })
  }
  return (
    <Button
      icon="bookmark"
      class={wantToRead ? 'active' : ''}
      text={t('action.wantToRead')}
      aria-pressed={wantToRead}
      onClick={toggle}
    />
  )
}
