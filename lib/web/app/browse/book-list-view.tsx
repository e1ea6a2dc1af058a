// Page with all books.
import { t } from '../text/translate.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { ListBrowser } from './list-browser.tsx'

export function View() {
  return (
    <div>
      <PageHeader title={t('label.books')} />
      <ListBrowser kind="books" libraryId={null} label={t('label.books')} />
    </div>
  )
}
