// Piscina pool whose errors cannot crash the process.
import { Piscina } from 'piscina'

type PiscinaOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>

/**
 * `onError` receives errors that belong to no call; without a listener they would end the process. A result
 * that arrives after its thread was terminated is such an error to Piscina, but ignored here.
 */
export function openPiscina(options: PiscinaOptions, onError: (error: Error) => void): Piscina {
  const pool = new Piscina(options)
  pool.on('error', (error: Error) => {
    if (!/^Unexpected message from Worker/.test(error.message)) onError(error)
  })
  return pool
}
