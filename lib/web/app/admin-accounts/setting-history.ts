// History of a setting: values, times and accounts.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { formatDate, t } from '../text/translate.ts'
import { Dialog } from '../ui/dialog.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { labelOf } from './setting-text.ts'

type SettingHistoryProps = { settingKey: string; onClose: () => void }

export function SettingHistory({ settingKey: key, onClose }: SettingHistoryProps) {
  const { data, error, reload } = useResource(`settings/${key}/history`, async signal => {
    const params = { path: { key }, query: { pageSize: 100 } }
    return (await body(api.GET('/api/v1/admin/settings/{key}/history', { params, signal }))).data
  })
  return h(
    Dialog,
    { title: t('settings.historyOf', { name: labelOf(key) }), onClose, width: 'wide' },
    error && !data && h(ErrorState, { error, onRetry: reload }),
    data?.length === 0 && h('p', null, t('settings.unchanged')),
    data && data.length > 0 && h(HistoryTable, { changes: data }),
  )
}

function HistoryTable({ changes }: { changes: Schemas['SettingChange'][] }) {
  const columns = ['time', 'old', 'new', 'account'] as const
  return h(
    'div',
    { class: 'table-scroll' },
    h(
      'table',
      { class: 'table' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          columns.map(name => h('th', { scope: 'col', key: name }, t(`settings.${name}`))),
        ),
      ),
      h(
        'tbody',
        null,
        changes.map(change =>
          h(
            'tr',
            { key: change.id },
            h('td', null, formatDate(change.changedAt, 'dateTime')),
            h('td', null, change.oldValue ?? ''),
            h('td', null, change.newValue ?? ''),
            h(
              'td',
              null,
              change.changedBy ?? '',
              change.changeReason && ` (${change.changeReason})`,
            ),
          ),
        ),
      ),
    ),
  )
}
