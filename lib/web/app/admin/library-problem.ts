// What is wrong with a library, for people.
import type { Scan } from '../manage/scan.ts'
import { t } from '../text/translate.ts'
import type { ServerMetrics } from './server-metrics.ts'
import type { Library } from './use-libraries.ts'

/** That its folder cannot be read; null if all is well. The latest scan or the metrics of the server know it. */
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

/** Whether a scan failed because its folder was not there. */
const isUnavailable = ({ message }: Scan): boolean => /^The library folder /.test(message ?? '')
