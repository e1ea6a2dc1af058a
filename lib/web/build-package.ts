// Command that builds the web application for a package (npm run build:web).
import { buildPackage } from './build-cache.ts'

await buildPackage()
