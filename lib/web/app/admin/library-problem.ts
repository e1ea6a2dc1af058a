// What is wrong with a library, for people.
import type { Scan } from '../manage/scan.ts'
import { t } from '../text/translate.ts'
import type { Library } from './use-libraries.ts'

/** That its folder cannot be read, or is not watched as wished; null if all is well. */
export function libraryProblem(library: Library, scan?: Scan): string | null {
  if (!library.isResponding) return t('library.notResponding')
  if (scan?.status === 'failed' && isUnavailable(scan)) return t('library.unavailable')
  return null
}

/** Whether a scan failed because its folder was not there. */
const isUnavailable = ({ message }: Scan): boolean => /folder cannot be read/.test(message ?? '')
