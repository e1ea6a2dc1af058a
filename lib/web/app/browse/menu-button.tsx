// Menu entry that runs an action and shows its failure as a message.
import { Icon, type IconName } from '../ui/icon.tsx'
import { showError } from '../ui/toast.tsx'

type MenuButtonProps = { icon: IconName; text: string; onClick: () => unknown }

export function MenuButton({ icon, text, onClick }: MenuButtonProps) {
  const run = async () => {
    try {
      await onClick()
    } catch (error) {
      showError(error)
    }
  }
  return (
    <button type="button" class="menu-item" onClick={() => void run()}>
      <Icon name={icon} />
      {text}
    </button>
  )
}
