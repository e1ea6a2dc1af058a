// Motion of what scripts scroll. Transitions and animations of style sheets are for `prefers-reduced-motion: no-preference` alone.
export const scrollBehavior = (): 'smooth' | 'instant' =>
  matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth'
