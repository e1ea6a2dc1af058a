// Switch between cards and lines.
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { listMode } from './list-mode.ts'

export function ModeSwitch() {
  const isLines = listMode.value === 'lines'
  return (
    <IconButton
      icon={isLines ? 'grid' : 'list'}
      label={t(isLines ? 'lists.showCards' : 'lists.showLines')}
      onClick={() => {
        listMode.value = isLines ? 'cards' : 'lines'
      }}
    />
  )
}
