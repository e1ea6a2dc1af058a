// Switch between cards and lines.
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.ts'
import { h } from '../ui/h.ts'
import { listMode } from './list-mode.ts'

export function ModeSwitch() {
  const isLines = listMode.value === 'lines'
  return h(IconButton, {
    icon: isLines ? 'grid' : 'list',
    label: t(isLines ? 'lists.showCards' : 'lists.showLines'),
    onClick: () => {
      listMode.value = isLines ? 'cards' : 'lines'
    },
  })
}
