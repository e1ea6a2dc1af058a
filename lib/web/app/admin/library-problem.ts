// Problems of a library in words.
import type { Library } from '../api/use-libraries.ts'
import type { Scan } from '../manage/scan.ts'
import { t } from '../text/translate.ts'
import type { ServerMetrics } from './server-metrics.ts'

/** An unreadable folder, by the latest scan or the server metrics; null if there is no problem. */
export function libraryProblem(
  library: Library,
  { scan, metrics }: { scan?: Scan | undefined; metrics?: ServerMetrics | undefined },
): string | null {
  if (!library.isResponding) return t('library.notResponding')
  if (scan?.status === 'failed' && isUnavailable(scan)) return t('library.unavailable')
  const available = metrics
    ?.get('library_available')
    ?.find(({ labels }) => labels.library === library.id)
  return available?.value === 0 ? t('library.unavailable') : null
}

/** Whether a scan failed because its folder was unavailable. */
const isUnavailable = ({ message }: Scan): boolean => /^The library folder /.test(message ?? '')
