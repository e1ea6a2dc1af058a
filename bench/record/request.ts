// A request of a recording.
import type { Viewer } from './catalog.ts'

export type Request = {
  as: Viewer
  method: string
  /** With `{{name}}` for the ids of records, as in `body`. */
  path: string
  body?: unknown
  headers?: Record<string, string>
  /** Compares only the ids of the records of a page. */
  only?: 'ids'
}

export const get = (as: Viewer, path: string, more: Partial<Request> = {}): Request => ({
  ...{ as, method: 'GET', path },
  ...more,
})
