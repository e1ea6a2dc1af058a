// Banner of a preview: the shown account, and a button to end it.

import { preview } from '../api/preview.ts'
import { endPreview } from '../api/session.ts'
import { navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'

export function PreviewBanner() {
  if (preview.value === null) return null
  const { accountId, username } = preview.value
  const end = async () => {
    await endPreview()
    navigate(`admin/users/${accountId}`)
  }
  return (
    <div class="preview-banner" role="status">
      <span>{t('preview.as', { name: username })}</span>
      <Button onClick={end}>{t('preview.end')}</Button>
    </div>
  )
}
