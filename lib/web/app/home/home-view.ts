// Home page.
import { t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { PageHeader } from '../ui/page-header.ts'

export function View() {
  return h(PageHeader, { title: t('nav.home') })
}
