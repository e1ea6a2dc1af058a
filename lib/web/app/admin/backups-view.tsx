// Backups: the last result and its age, the list with failures, and one on request.
import { api, type Schemas } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { href } from '../routing/router.ts'
import { formatBytes, formatDate, formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import { useInterval } from '../ui/timing.ts'
import { showNotice } from '../ui/toast.tsx'
import { AdminFrame } from './admin-frame.tsx'

type Backups = Schemas['BackupReport']
type Backup = Backups['backups'][number]

const reloadMs = 5_000

export function View() {
  const { data, error, reload } = useGet('/api/v1/admin/backups')
  useInterval(reload, reloadMs)
  const start = async () => {
    await api.POST('/api/v1/admin/backups')
    showNotice(t('backups.started'))
    reload()
  }
  return (
    <AdminFrame
      title={t('admin.backups')}
      subtitle={data && summaryOf(data)}
      actions={data?.folder && <Button icon="download" text={t('backups.now')} onClick={start} />}
    >
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data && <Notices backups={data} />}
      {data && data.backups.length === 0 && data.folder && (
        <EmptyState icon="copy" title={t('backups.never')} text={t('backups.noneText')} />
      )}
      {data && data.backups.length > 0 && (
        <div class="table-scroll">
          <Table columns={[t('label.time'), t('details.file'), t('backups.result')]}>
            {data.backups.map(backup => (
              <tr key={backup.id}>
                <td>{formatDate(backup.startedAt, 'dateTime')}</td>
                <td>{backup.file}</td>
                <td>{resultOf(backup)}</td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </AdminFrame>
  )
}

const summaryOf = ({ lastSuccessAt }: Backups): string =>
  lastSuccessAt === null
    ? t('backups.never')
    : t('backups.last', { time: formatRelative(lastSuccessAt) })

function Notices({ backups }: { backups: Backups }) {
  const { folder, schedule, isFailing, isOverdue } = backups
  if (folder === null)
    return schedule === '' ? (
      <p class="notice">{t('backups.noFolder')}</p>
    ) : (
      <p class="notice danger">{t('backups.scheduleWithoutFolder', { schedule })}</p>
    )
  return (
    <>
      {isFailing && <p class="notice danger">{t('backups.failing')}</p>}
      {isOverdue && <p class="notice danger">{t('backups.overdue')}</p>}
      <p class="secondary-text">
        {schedule === ''
          ? t('backups.noSchedule', { folder })
          : t('backups.schedule', { folder, schedule })}{' '}
        <a href={href('admin/settings')}>{t('admin.settings')}</a>
      </p>
    </>
  )
}

function resultOf({ endedAt, bytes, error }: Backup) {
  if (endedAt === null) return t('task.status.running')
  if (error !== null) return <span class="badge danger">{error}</span>
  return formatBytes(bytes ?? 0)
}
