// Resources that are disposed at the end of a test.
import type { Test } from 'tap'

/** Disposes the resource when the test ends, after those that were opened later; returns it. */
export function use<R extends Disposable | AsyncDisposable>(t: Test, resource: R): R {
  t.teardown(() =>
    Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose](),
  )
  return resource
}
