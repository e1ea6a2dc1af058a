// Props of views.

/** Values of the `:name` parts of the route's pattern. */
export type ViewProps = { params: Record<string, string> }
