// Page with all series.
import { t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { PageHeader } from '../ui/page-header.ts'
import { SeriesBrowser } from './series-browser.ts'

export function View() {
  return h(
    'div',
    null,
    h(PageHeader, { title: t('nav.series') }),
    h(SeriesBrowser, { libraryId: null, label: t('nav.series') }),
  )
}
