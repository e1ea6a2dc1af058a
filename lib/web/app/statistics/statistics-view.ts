// stub
import { h } from '../ui/h.ts'
export const View = () => h('p', null, '')
