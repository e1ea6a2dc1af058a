// Buttons for the pages of a list.
import { t } from '../text/translate.ts'
import { IconButton } from './button.tsx'

type PaginationProps = { page: number; totalPages: number; onChange: (page: number) => void }

/** Renders nothing for a single page. */
export function Pagination({ page, totalPages, onChange }: PaginationProps) {
  if (totalPages <= 1) return null
  return (
    <nav class="pagination" aria-label={t('label.pages')}>
      <IconButton
        icon="chevronLeft"
        class="icon-directional"
        label={t('pagination.previous')}
        disabled={page <= 1}
        onClick={() => onChange(page - 1)}
      />
      <span>{t('lists.pageOf', { page, count: totalPages })}</span>
      <IconButton
        icon="chevronRight"
        class="icon-directional"
        label={t('pagination.next')}
        disabled={page >= totalPages}
        onClick={() => onChange(page + 1)}
      />
    </nav>
  )
}
