// Makes the build that a package brings with it (npm run build:web).
import { buildPackage } from './build-cache.ts'

await buildPackage()
