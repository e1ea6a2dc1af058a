// Where a task or scan runs or ran; only administrators receive it.
import { t } from '../text/translate.ts'

/** Scans of events are without. */
type WithHost = { host?: string | null; pid?: number | null }

/** Empty where it is not known. */
export const placeText = ({ host, pid }: WithHost): string =>
  host ? t('task.place', { host, pid: String(pid) }) : ''
