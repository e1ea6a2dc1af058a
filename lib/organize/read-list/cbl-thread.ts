// Thread that reads one large CBL file: parsing megabytes of XML takes a second, which would block requests.
import { parentPort, workerData } from 'node:worker_threads'
import { type CblInput, parseCbl } from './cbl-file.ts'

parentPort?.postMessage(parseCbl(workerData as CblInput))
