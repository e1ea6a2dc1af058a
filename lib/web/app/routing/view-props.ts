// Properties of the views.

/** Values of the `:name` parts of the pattern of its route. */
export type ViewProps = { params: Record<string, string> }
