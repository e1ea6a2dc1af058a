// Page that adds a library.
import { AddLibrary } from '../manage/add-library.ts'
import { navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { h } from '../ui/h.ts'
import { AdminFrame } from './admin-frame.ts'

export function View() {
  return h(
    AdminFrame,
    { title: t('library.add'), subtitle: t('setup.libraryText') },
    h(
      'div',
      { class: 'admin-form' },
      h(AddLibrary, {
        onAdded: ({ id }) => navigate(`admin/libraries/${id}`, { replace: true }),
      }),
    ),
  )
}
