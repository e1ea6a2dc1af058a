// Icons as SVG paths on a grid of 24 × 24, drawn with the color of the text.

const paths = {
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-8 8c0-3.5 3.6-6 8-6s8 2.5 8 6',
  add: 'M12 5v14M5 12h14',
  arrowDown: 'M12 5v14m6-6-6 6-6-6',
  arrowLeft: 'M19 12H5m6-6-6 6 6 6',
  arrowRight: 'M5 12h14m-6-6 6 6-6 6',
  arrowUp: 'M12 19V5m-6 6 6-6 6 6',
  release: 'M6 17v-6a6 6 0 0 1 12 0v6l1.5 2h-15L6 17Zm4 4h4M12 3v2',
  book: 'M5 4h6a2 2 0 0 1 1 .4A2 2 0 0 1 13 4h6v15h-6a2 2 0 0 0-1 .5 2 2 0 0 0-1-.5H5V4Zm7 .5v15',
  bookmark: 'M7 4h10v16l-5-4-5 4V4Z',
  chart: 'M4 20V4m0 16h16M8 16v-5m4 5V7m4 9v-7',
  check: 'm5 13 4 4L19 7',
  chevronDown: 'm6 9 6 6 6-6',
  chevronLeft: 'm15 6-6 6 6 6',
  chevronRight: 'm9 6 6 6-6 6',
  close: 'M6 6l12 12M18 6 6 18',
  collection: 'M4 8h16v12H4V8Zm2-3h12M8 2.5h8',
  copy: 'M9 9h11v11H9V9Zm-4 6H4V4h11v1',
  delete: 'M5 7h14M10 4h4M7 7l1 13h8l1-13M10 11v6m4-6v6',
  download: 'M12 4v11m-5-5 5 5 5-5M5 20h14',
  drag: 'M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01',
  edit: 'm4 20 1-4L16 5l3 3L8 19l-4 1Zm10-13 3 3',
  error: 'M12 8v5m0 3v.5M12 3 2.5 20h19L12 3Z',
  filter: 'M4 5h16l-6 8v6l-4-2v-4L4 5Z',
  folder: 'M3 6h6l2 2h10v11H3V6Z',
  fullscreen: 'M4 9V4h5m6 0h5v5m0 6v5h-5m-6 0H4v-5',
  grid: 'M4 4h7v7H4V4Zm9 0h7v7h-7V4ZM4 13h7v7H4v-7Zm9 0h7v7h-7v-7Z',
  home: 'm4 11 8-7 8 7v9h-5v-6H9v6H4v-9Z',
  key: 'M8 19a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.2-7.7L20 2.5m-4.5 4.5 3 3',
  library: 'M4 4h4v16H4V4Zm6 0h4v16h-4V4Zm6.5.5 3.5 1-3 15-3.5-1',
  list: 'M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01',
  lock: 'M6 11h12v9H6v-9Zm2 0V8a4 4 0 0 1 8 0v3',
  menu: 'M4 6h16M4 12h16M4 18h16',
  more: 'M5 11.2a.8.8 0 1 0 0 1.6.8.8 0 1 0 0-1.6M12 11.2a.8.8 0 1 0 0 1.6.8.8 0 1 0 0-1.6M19 11.2a.8.8 0 1 0 0 1.6.8.8 0 1 0 0-1.6',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4v16l13-8L7 4Z',
  remove: 'M5 12h14',
  skipNext: 'M6 5v14l10-7L6 5Zm12 0v14',
  skipPrevious: 'M18 5v14L8 12l10-7ZM6 5v14',
  pulse: 'M3 12h4l3-8 4 16 3-8h4',
  refresh: 'M19 8a8 8 0 1 0 1 6M20 4v5h-5',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 4 4',
  settings:
    'M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM12 2v3m0 14v3M2 12h3m14 0h3M5 5l2 2m10 10 2 2M19 5l-2 2M7 17l-2 2',
  signOut: 'M14 4h5v16h-5M4 12h11m-4-4 4 4-4 4',
  sort: 'M7 5v14m0 0-3-3m3 3 3-3M17 19V5m0 0-3 3m3-3 3 3',
  star: 'm12 4 2.5 5.2 5.5.8-4 4 1 5.8-5-2.8-5 2.8 1-5.8-4-4 5.5-.8L12 4Z',
  table: 'M4 5h16v14H4V5Zm0 5h16M4 14.5h16M10 5v14',
  tag: 'M4 4h8l8 8-8 8-8-8V4Zm4.5 4.5h.01',
  tasks: 'm4 6 1.5 1.5L8 5m-4 7 1.5 1.5L8 11m-4 7 1.5 1.5L8 17M11 6h9m-9 6h9m-9 6h9',
  textSelect:
    'M8 5H6a2 2 0 0 0-2 2v1m0 8v1a2 2 0 0 0 2 2h2m8-14h2a2 2 0 0 1 2 2v1m0 8v1a2 2 0 0 1-2 2h-2M12 8v8m-2-8h4m-4 8h4',
  textSize: 'M3 18 8 6l5 12M5 14h6m3 4 3.5-8 3.5 8m-6-3h5',
  undo: 'M9 7 4 12l5 5m-5-5h10a6 6 0 0 1 6 6',
  unlock: 'M6 11h12v9H6v-9Zm2 0V8a4 4 0 0 1 7.5-2',
  upload: 'M12 16V5m-5 5 5-5 5 5M5 20h14',
  users:
    'M9 12a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6 7c0-3 2.7-5 6-5s6 2 6 5m1-14a3.5 3.5 0 0 1 0 7m2 2c2 .7 3 2.5 3 5',
  visible:
    'M2 12s3.5-6 10-6 10 6 10 6-3.5 6-10 6S2 12 2 12Zm10 2.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
  zoomIn: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 4 4M8 11h6m-3-3v6',
} as const

export type IconName = keyof typeof paths

type IconProps = {
  name: IconName
  size?: number
  /** Points the other way where the script runs from right to left. */
  isDirectional?: boolean
}

/** Decorative: the text beside it or the button's `aria-label` carries the meaning. */
export function Icon({ name, size = 20, isDirectional }: IconProps) {
  return (
    <svg
      class={isDirectional ? 'icon icon-directional' : 'icon'}
      viewBox="0 0 24 24"
      width={size}
      height={size}
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  )
}
