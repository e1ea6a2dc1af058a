// Resources beside the checkout (`../shared`) that some benches need.
import { sharedPath } from '../../test/kit/shared.ts'

/** Absolute path of a shared resource; prints that it is missing and exits if there is none. */
export function requireShared(path: string): string {
  const absolute = sharedPath(path)
  if (absolute !== null) return absolute
  process.stderr.write(
    `This bench needs ../shared/${path}, which is not part of this repository.\n`,
  )
  process.exit(2)
}
