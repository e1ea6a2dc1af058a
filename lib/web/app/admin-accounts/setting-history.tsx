// History of a setting: values, times and accounts.
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { formatDate, t } from '../text/translate.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { labelOf } from './setting-text.ts'

type SettingHistoryProps = { settingKey: string; onClose: () => void }

export function SettingHistory({ settingKey: key, onClose }: SettingHistoryProps) {
  const { data, error, reload } = useResource(`settings/${key}/history`, async signal => {
    const params = { path: { key }, query: { pageSize: 100 } }
    return (await body(api.GET('/api/v1/admin/settings/{key}/history', { params, signal }))).data
  })
  return (
    <Dialog title={t('settings.historyOf', { name: labelOf(key) })} onClose={onClose} width="wide">
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data?.length === 0 && <p>{t('settings.unchanged')}</p>}
      {data && data.length > 0 && <HistoryTable changes={data} />}
    </Dialog>
  )
}

function HistoryTable({ changes }: { changes: Schemas['SettingChange'][] }) {
  const columns = ['label.time', 'settings.old', 'settings.new', 'settings.account'] as const
  return (
    <div class="table-scroll">
      <table class="table">
        <thead>
          <tr>
            {columns.map(name => (
              <th key={name} scope="col">
                {t(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.map(change => (
            <tr key={change.id}>
              <td>{formatDate(change.changedAt, 'dateTime')}</td>
              <td>{change.oldValue ?? ''}</td>
              <td>{change.newValue ?? ''}</td>
              <td>
                {change.changedBy ?? ''}
                {change.changeReason && ` (${change.changeReason})`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
