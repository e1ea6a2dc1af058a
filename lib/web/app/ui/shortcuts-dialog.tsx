// Dialog with the keyboard shortcuts of a view.
import { type TextKey, t } from '../text/translate.ts'
import { Dialog } from './dialog.tsx'

export type Shortcut = { keys: readonly string[]; text: TextKey }

type ShortcutsDialogProps = { shortcuts: readonly Shortcut[]; onClose: () => void }

export function ShortcutsDialog({ shortcuts, onClose }: ShortcutsDialogProps) {
  const rows = shortcuts.map(({ keys, text }) => (
    <div key={text} class="reader-shortcut">
      <dt>
        {keys.map(key => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{t(text)}</dd>
    </div>
  ))
  return (
    <Dialog title={t('reader.shortcuts')} onClose={onClose}>
      <dl class="reader-shortcuts">{rows}</dl>
    </Dialog>
  )
}
