// Buttons for the pages of a list, whose page is a parameter of the address.
import { address, setQuery } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { IconButton } from './button.tsx'

/** From 1. */
export const currentPage = () => Math.max(1, Number(address.value.query.get('page')) || 1)

/** Renders nothing for a single page, and until the number of pages is known. */
export function Pagination({ totalPages = 1 }: { totalPages: number | undefined }) {
  if (totalPages <= 1) return null
  const page = currentPage()
  const step = (name: 'previous' | 'next', to: number) => (
    <IconButton
      icon={name === 'next' ? 'chevronRight' : 'chevronLeft'}
      isFramed
      class="icon-directional"
      label={t(`pagination.${name}`)}
      disabled={name === 'next' ? to > totalPages : to < 1}
      onClick={() => setQuery({ page: to === 1 ? null : String(to) })}
    />
  )
  return (
    <nav class="pagination" aria-label={t('label.pages')}>
      {step('previous', page - 1)}
      <span>{t('lists.pageOf', { page, count: totalPages })}</span>
      {step('next', page + 1)}
    </nav>
  )
}
