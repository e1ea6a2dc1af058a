// Frame of the pages of the signed-in account: navigation between them above the heading.
import { t } from '../text/translate.ts'
import { type SectionEntry, SectionPage, type SectionPageProps } from '../ui/page-header.tsx'

const entries: readonly SectionEntry[] = [
  { path: 'account', icon: 'account', text: 'account.profile' },
  { path: 'account/keys', icon: 'key', text: 'keys.title', permission: 'ApiKeysRead' },
]

export const AccountFrame = (props: SectionPageProps) => (
  <SectionPage label={t('account.title')} entries={entries} {...props} />
)
