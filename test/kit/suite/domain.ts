// Domains that track no promises, in place of async-hook-domain of tap: its hook on every promise costs a tenth
// of the CPU time of the tests. Uncaught errors fail the innermost running test (see run.ts).

/** Constructor of a domain, as tap uses it. */
export function Domain(onerror: (error: unknown) => void) {
  return { onerror, destroy() {} }
}
