// Menu of the statistics: export and deletion of the reading history.
import { useState } from 'preact/hooks'
import { api } from '../api/client.ts'
import { can } from '../api/session.ts'
import { saveFile } from '../organize/download.ts'
import { t } from '../text/translate.ts'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { showError, showNotice } from '../ui/toast.tsx'
import { dayText } from './period.ts'

async function exportHistory(format: 'json' | 'csv') {
  const { data } = await api.GET('/api/v1/user/reading-export', {
    params: { query: { format } },
    parseAs: 'blob',
  })
  saveFile(data as Blob, `reading-${dayText(new Date())}.${format}`)
}

export function HistoryActions({ onDeleted }: { onDeleted: () => void }) {
  const [isConfirming, setConfirming] = useState(false)
  const item = (icon: 'download' | 'delete', text: string, run: () => unknown) => (
    <button
      type="button"
      class={icon === 'delete' ? 'menu-item danger' : 'menu-item'}
      onClick={() => void run()}
    >
      <Icon name={icon} />
      {text}
    </button>
  )
  const remove = async () => {
    await api.DELETE('/api/v1/user/read-history')
    showNotice(t('statistics.deleted'))
    onDeleted()
  }
  return (
    <>
      <Menu label={t('action.more')} trigger={<Icon name="more" />}>
        {item('download', t('statistics.exportCsv'), () => exportHistory('csv').catch(showError))}
        {item('download', t('statistics.exportJson'), () => exportHistory('json').catch(showError))}
        {(can('ProgressWrite') || can('BooksWrite')) &&
          item('delete', t('statistics.delete'), () => setConfirming(true))}
      </Menu>
      {isConfirming && (
        <ConfirmDialog
          title={t('statistics.deleteTitle')}
          text={t('statistics.deleteText')}
          action={t('statistics.delete')}
          onConfirm={remove}
          onClose={() => setConfirming(false)}
        />
      )}
    </>
  )
}
