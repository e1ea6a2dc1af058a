// Host and process of a task or scan; only administrators receive it.
import { t } from '../text/translate.ts'

/** Absent in events. */
type WithHost = { host?: string | null; pid?: number | null }

/** Empty if unknown. */
export const placeText = ({ host, pid }: WithHost): string =>
  host ? t('task.place', { host, pid: String(pid) }) : ''
