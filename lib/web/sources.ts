// Source files of the web application.
import { join } from 'node:path'

/** Modules, styles, texts and icons that browsers load. */
export const appFolder = join(import.meta.dirname, 'app')
/** Path in `appFolder` of the module that starts the application. */
export const entryModule = 'main.tsx'
/** Style sheet that the page loads before anything is shown. */
export const initialStyles = 'styles/app.css'
export const serviceWorkerFile = join(import.meta.dirname, 'service-worker', 'service-worker.ts')
