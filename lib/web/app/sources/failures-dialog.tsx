// The latest failures of a source.
import { useGet } from '../api/resource.ts'
import { formatDate, type TextKey, t } from '../text/translate.ts'
import { Dialog } from '../ui/dialog.tsx'
import { EmptyState, ErrorState, Loading } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'

const callTexts: Record<string, TextKey> = {
  describe: 'sources.test',
  searchSeries: 'search.title',
  searchBooks: 'search.title',
  fetchSeries: 'statistics.column.series',
  fetchBook: 'task.book',
  listReleases: 'nav.releases',
}
const callText = (operation: string) => {
  const key = callTexts[operation]
  return key ? t(key) : operation
}

type FailuresProps = { sourceId: string; name: string; onClose: () => void }

export function FailuresDialog({ sourceId, name, onClose }: FailuresProps) {
  const { data, error, reload } = useGet('/api/v1/admin/sources/{id}/failures', {
    path: { id: sourceId },
  })
  return (
    <Dialog title={t('sources.failures', { name })} onClose={onClose} width="wide">
      {!data && !error && <Loading />}
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data?.data.length === 0 && <EmptyState icon="check" title={t('sources.noFailures')} />}
      {data && data.data.length > 0 && (
        <div class="table-scroll">
          <Table columns={[t('label.time'), t('sources.call'), t('backups.result')]}>
            {data.data.map(({ id, createdAt, operation, message }) => (
              <tr key={id}>
                <td>{formatDate(createdAt, 'dateTime')}</td>
                <td>{callText(operation)}</td>
                <td dir="auto">{message}</td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </Dialog>
  )
}
