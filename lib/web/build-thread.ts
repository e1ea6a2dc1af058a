// Thread that builds the web application: what it loads for that is gone afterwards.
import { parentPort } from 'node:worker_threads'
import { buildApp } from './build.ts'

parentPort!.postMessage(await buildApp())
