// Page with all series.
import { t } from '../text/translate.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { ListBrowser } from './list-browser.tsx'

export function View() {
  return (
    <div>
      <PageHeader title={t('label.series')} />
      <ListBrowser kind="series" libraryId={null} label={t('label.series')} />
    </div>
  )
}
