// Page with all series.
import { t } from '../text/translate.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { SeriesBrowser } from './series-browser.tsx'

export function View() {
  return (
    <div>
      <PageHeader title={t('label.series')} />
      <SeriesBrowser libraryId={null} label={t('label.series')} />
    </div>
  )
}
