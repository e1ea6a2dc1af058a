// List display, cards or lines: one choice for all lists in this browser, and the button that changes it.
import { effect, signal } from '@preact/signals'
import { readStorage, writeStorage } from '../api/storage.ts'
import { t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'

export function ModeSwitch() {
  const isLines = listMode.value === 'lines'
  return (
    <IconButton
      icon={isLines ? 'grid' : 'list'}
      isFramed
      label={t(isLines ? 'lists.showCards' : 'lists.showLines')}
      onClick={() => {
        listMode.value = isLines ? 'cards' : 'lines'
      }}
    />
  )
}

type ListMode = 'cards' | 'lines'
const storageKey = 'stackroom.lists'

export const listMode = signal<ListMode>(readStorage(storageKey) === 'lines' ? 'lines' : 'cards')
effect(() => writeStorage(storageKey, listMode.value))
