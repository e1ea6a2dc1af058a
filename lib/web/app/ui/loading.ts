// Place of content that is loading, as high as a part of a page.
import { h } from './h.ts'

export const Loading = () => h('div', { class: 'view-loading', 'aria-busy': true })
