// Entry of a menu that runs an action; its failure is shown as a message.
import { h } from '../ui/h.ts'
import { Icon, type IconName } from '../ui/icon.ts'
import { showError } from '../ui/toast.ts'

type MenuButtonProps = { icon: IconName; text: string; onClick: () => unknown }

export function MenuButton({ icon, text, onClick }: MenuButtonProps) {
  const run = async () => {
    try {
      await onClick()
    } catch (error) {
      showError(error)
    }
  }
  return h(
    'button',
    { type: 'button', class: 'menu-item', onClick: () => void run() },
    h(Icon, { name: icon }),
    text,
  )
}
