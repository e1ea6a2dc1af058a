// Page that adds a library.
import { AddLibrary } from '../manage/add-library.tsx'
import { navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { AdminFrame } from './admin-frame.tsx'

export function View() {
  return (
    <AdminFrame title={t('library.add')} subtitle={t('setup.libraryText')}>
      <div class="admin-form">
        <AddLibrary onAdded={({ id }) => navigate(`admin/libraries/${id}`, { replace: true })} />
      </div>
    </AdminFrame>
  )
}
