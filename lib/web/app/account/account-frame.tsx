// Frame of the pages of the signed-in account: navigation between them above the heading.
import type { ComponentChildren } from 'preact'
import { t } from '../text/translate.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { type SectionEntry, SectionNavigation } from '../ui/section-navigation.tsx'

const entries: readonly SectionEntry[] = [
  { path: 'account', icon: 'account', text: 'account.profile' },
  { path: 'account/keys', icon: 'key', text: 'keys.title', permission: 'ApiKeysRead' },
]

type AccountFrameProps = { title: string; actions?: ComponentChildren; children: ComponentChildren }

export function AccountFrame({ title, actions, children }: AccountFrameProps) {
  return (
    <>
      <SectionNavigation label={t('account.title')} entries={entries} />
      <PageHeader title={title} actions={actions} />
      {children}
    </>
  )
}
