// Thread that reads one large CBL file: parsing megabytes of XML takes a second, which requests must not wait for.
import { parentPort, workerData } from 'node:worker_threads'
import { type CblInput, parseCbl } from './cbl-file.ts'

parentPort?.postMessage(parseCbl(workerData as CblInput))
