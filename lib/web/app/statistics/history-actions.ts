// Menu of the statistics: export and deletion of the reading history.
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../api/client.ts'
import { can } from '../api/session.ts'
import { saveFile } from '../organise/download.ts'
import { t } from '../text/translate.ts'
import { ConfirmDialog } from '../ui/dialog.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { Menu } from '../ui/menu.ts'
import { showError, showNotice } from '../ui/toast.ts'
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
  const item = (icon: 'download' | 'delete', text: string, run: () => unknown) =>
    h(
      'button',
      {
        type: 'button',
        class: icon === 'delete' ? 'menu-item danger' : 'menu-item',
        onClick: () => void run(),
      },
      h(Icon, { name: icon }),
      text,
    )
  const remove = async () => {
    await api.DELETE('/api/v1/user/read-history')
    showNotice(t('statistics.deleted'))
    onDeleted()
  }
  return h(
    Fragment,
    null,
    h(
      Menu,
      { label: t('action.more'), trigger: h(Icon, { name: 'more' }) },
      item('download', t('statistics.exportCsv'), () => exportHistory('csv').catch(showError)),
      item('download', t('statistics.exportJson'), () => exportHistory('json').catch(showError)),
      (can('ProgressWrite') || can('BooksWrite')) &&
        item('delete', t('statistics.delete'), () => setConfirming(true)),
    ),
    isConfirming &&
      h(ConfirmDialog, {
        title: t('statistics.deleteTitle'),
        text: t('statistics.deleteText'),
        action: t('statistics.delete'),
        onConfirm: remove,
        onClose: () => setConfirming(false),
      }),
  )
}
