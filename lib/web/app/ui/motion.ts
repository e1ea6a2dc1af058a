// Motion of scripted scrolling. Style sheets animate only with `prefers-reduced-motion: no-preference`.
export const scrollBehavior = (): 'smooth' | 'instant' =>
  matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth'
