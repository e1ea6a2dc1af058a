// Disposal of resources at the end of a scope, for Node versions without `using` declarations.

type Resource = Disposable | AsyncDisposable
/** Takes ownership of a resource and returns it; `null` and `undefined` need no disposal. */
export type Use = <R extends Resource | null | undefined>(resource: R) => R

/**
 * Runs `work`, then disposes of what it passed to `use`, in reverse order. Always disposes of every resource;
 * throws what `work` throws, else the first error of a disposal.
 */
export async function scoped<T>(work: (use: Use) => Promise<T>): Promise<T> {
  const resources: Resource[] = []
  let result: T
  try {
    result = await work(resource => {
      if (resource) resources.push(resource)
      return resource
    })
  } catch (error) {
    await disposeAll(resources)
    throw error
  }
  const errors = await disposeAll(resources)
  if (errors.length > 0) throw errors[0]
  return result
}

async function disposeAll(resources: Resource[]): Promise<unknown[]> {
  const errors: unknown[] = []
  for (const resource of resources.reverse()) {
    try {
      if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]()
      else resource[Symbol.dispose]()
    } catch (error) {
      errors.push(error)
    }
  }
  return errors
}
