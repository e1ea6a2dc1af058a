// Dialog with the keys of a view and what they do.
import { type TextKey, t } from '../text/translate.ts'
import { Dialog } from './dialog.ts'
import { h } from './h.ts'

export type Shortcut = { keys: readonly string[]; text: TextKey }

type ShortcutsDialogProps = { shortcuts: readonly Shortcut[]; onClose: () => void }

export function ShortcutsDialog({ shortcuts, onClose }: ShortcutsDialogProps) {
  const rows = shortcuts.map(({ keys, text }) =>
    h(
      'div',
      { class: 'reader-shortcut', key: text },
      h(
        'dt',
        null,
        keys.map(key => h('kbd', { key }, key)),
      ),
      h('dd', null, t(text)),
    ),
  )
  return h(Dialog, {
    title: t('reader.shortcuts'),
    onClose,
    children: h('dl', { class: 'reader-shortcuts' }, rows),
  })
}
