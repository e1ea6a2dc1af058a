// PostgreSQL driver: postgres.js with fixes for lost connections. The fixes are in the patch file beside this
// one, which `patch-package` applies after `npm install`:
// - After a loss within a transaction, its next statement crashed the process (write to a null socket),
//   hung, or was sent on the next user's connection. Now it fails with the error of the loss.
// - Unsent data and results of the lost connection corrupted the handshake of the new one.
// - A lost reserved connection was returned to the pool as an open one.
// - A loss during the handshake was an unhandled rejection.
// - After a statement that failed in the middle of its rows, those of the next one began at a later index.
// - While the server is absent, waiting statements fail with the attempt to connect instead of one after the
//   other, and `onclose` has a second argument: whether the connection was open.
// - `response_timeout`: seconds after which a connection that owes a response and is silent counts as lost.
// - Of several hosts each is tried once, from the first, then the statement fails: it waited for ever, and the process
//   tried without a pause. `read-write` does not take a standby, which reports that its default is to write.
// - A server without TLS is an error where TLS is required; certificates are compared with an address as host, too.
// - A connection that is closed while it opens does not wait for the server.
// And for speed:
// - The connection that was used last is used next, so that few have to prepare and plan the same statements.
// - Rows are copies of one with all columns. Beyond twelve columns, rows that are filled by name become
//   dictionaries, which took twice as long to read and to copy.
// - Array types are fetched once and not by each connection: only those of PostgreSQL itself are used.
// To upgrade postgres.js: install the new version, apply the changes to node_modules/postgres/src, run
// `npx patch-package postgres --patch-dir lib/postgres/patches`, and test/postgres/lost-connection.test.ts.
import driver, { type Options } from 'postgres'
import { Invalid } from '../errors.ts'
import { withoutPostgresVariables } from './environment.ts'

export type DriverOptions = Options<Record<string, never>>

const isPatched = 'patch' in driver && driver.patch === 'stackroom'

/**
 * A pool of the driver, whose defaults do not come from the environment. Throws Invalid when the patch was not applied.
 */
export function postgres(options: DriverOptions): ReturnType<typeof driver> {
  if (!isPatched)
    throw new Invalid(
      'The PostgreSQL driver is not patched, because npm ran without scripts; run `npm run postinstall`',
    )
  // Where an option is absent or empty it reads variables: libpq's (PGUSER) and some of its own (PGMAX_LIFETIME, PGDEBUG).
  const { env } = process
  process.env = withoutPostgresVariables()
  try {
    return driver(options)
  } finally {
    process.env = env
  }
}
