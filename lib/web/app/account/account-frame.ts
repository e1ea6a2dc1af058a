// Frame of the pages of the signed-in account: navigation between them above the heading.
import { Fragment } from 'preact'
import { t } from '../text/translate.ts'
import { type ComponentChildren, h } from '../ui/h.ts'
import { PageHeader } from '../ui/page-header.ts'
import { type SectionEntry, SectionNavigation } from '../ui/section-navigation.ts'

const entries: readonly SectionEntry[] = [
  { path: 'account', icon: 'account', text: 'account.profile' },
  { path: 'account/keys', icon: 'key', text: 'keys.title', permission: 'ApiKeysRead' },
]

type AccountFrameProps = { title: string; actions?: ComponentChildren; children: ComponentChildren }

export function AccountFrame({ title, actions, children }: AccountFrameProps) {
  return h(
    Fragment,
    null,
    h(SectionNavigation, { label: t('account.title'), entries }),
    h(PageHeader, { title, actions }),
    children,
  )
}
