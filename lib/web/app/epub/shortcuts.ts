// Keyboard shortcuts of the EPUB reader, as its help lists them.
import type { Shortcut } from '../ui/shortcuts-dialog.tsx'

/** Shortcuts as the help shows them. */
export const shortcuts: readonly Shortcut[] = [
  { keys: ['←', '→'], text: 'reader.help.turn' },
  { keys: ['Space', 'Shift Space'], text: 'epub.help.pages' },
  { keys: ['Home', 'End'], text: 'epub.help.ends' },
  { keys: ['T'], text: 'epub.contents' },
  { keys: ['/'], text: 'epub.search' },
  { keys: ['Backspace'], text: 'epub.back' },
  { keys: ['S'], text: 'epub.settings' },
  { keys: ['+', '−'], text: 'epub.fontSize' },
  { keys: ['F'], text: 'reader.help.fullscreen' },
  { keys: ['M'], text: 'reader.help.menu' },
  { keys: ['?'], text: 'reader.help.help' },
  { keys: ['Esc'], text: 'reader.close' },
]
