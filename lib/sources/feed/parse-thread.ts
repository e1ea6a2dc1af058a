// Thread that reads one large feed: parsing megabytes of XML takes seconds, which would block requests.
import { parentPort, workerData } from 'node:worker_threads'
import { type FeedInput, readReleases } from './releases.ts'

parentPort?.postMessage(readReleases(workerData as FeedInput))
