// Name of this process's host, for records of the work it did.
import { hostname } from 'node:os'

/** Inside a container this is usually the container id. */
export const hostName = hostname().slice(0, 64)
