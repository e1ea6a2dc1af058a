// Name of the host of this process, for records of the work that it did.
import { hostname } from 'node:os'

/** Inside a container that is usually its id. */
export const hostName = hostname().slice(0, 64)
