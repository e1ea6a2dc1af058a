// A view of the application with its address and its props.
import type { FunctionComponent } from 'preact'
import type { Permission } from '../api/session.ts'

export type Route = {
  /** Path with `:name` for one segment. */
  pattern: string
  load: () => Promise<{ View: FunctionComponent<ViewProps> }>
  /** Style sheets of the view, below the folder of the application. */
  styles?: readonly string[]
  /** `plain`: without navigation, for readers and sign-in. */
  frame?: 'plain'
  /** `public`: also when signed out. Otherwise the required permission, if any. */
  access?: 'public' | Permission
}

/** Values of the `:name` parts of the route's pattern. */
export type ViewProps = { params: Record<string, string> }
