// Style sheet of dialogs that are imported without a route: importing this module waits for it.
import { loadStyles } from '../routing/load-view.ts'

await loadStyles('organise/organise.css')
