// Confirmation before unsaved edits are lost.
import { discarding } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { ConfirmDialog } from '../ui/dialog.tsx'

export function DiscardQuestion() {
  const discard = discarding.value
  if (discard === null) return null
  return (
    <ConfirmDialog
      title={t('unsaved.title')}
      text={t('unsaved.text')}
      action={t('unsaved.discard')}
      onConfirm={discard}
      onClose={() => {
        discarding.value = null
      }}
    />
  )
}
