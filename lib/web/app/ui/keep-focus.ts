// Focus that is not lost: when the focused element is removed or disabled, what stands beside it gets the focus.

const tabbable =
  ':is(a[href], button, input, select, textarea, summary, [tabindex]):not([tabindex="-1"], :disabled)'

/** What has the focus, or had it when it disappeared. */
let focused: Element | null = null

/** Browsers give the focus to the document, so that the next Tab begins at the top of the page. */
export function keepFocus() {
  document.addEventListener('focusin', event => {
    focused = event.target as Element
  })
  document.addEventListener('focusout', event => {
    // Without another element: a click beside all controls, or its removal, which the observer sees.
    if (event.relatedTarget === null && focused?.isConnected) setTimeout(forgetLeft)
  })
  const observer = new MutationObserver(records => {
    if (focused === null || !isLost(focused)) return
    const lost = focused
    focused = null
    const place = gapOf(lost, records)
    neighbourOf(place)?.focus({ preventScroll: true })
  })
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] })
}

function forgetLeft() {
  if (
    focused?.isConnected &&
    document.activeElement === document.body &&
    !focused.matches(':disabled')
  )
    focused = null
}

/** Another element may have the focus already. */
function isLost(element: Element): boolean {
  const { activeElement } = document
  if (activeElement !== null && activeElement !== document.body && activeElement !== element)
    return false
  return !element.isConnected || element.matches(':disabled')
}

type Gap = { parent: Node | null; before: Node | null; after: Node | null }

/** Where an element is or was. */
function gapOf(element: Element, records: readonly MutationRecord[]): Gap {
  const isRemoval = ({ removedNodes }: MutationRecord) =>
    [...removedNodes].some(node => node.contains(element))
  const removal = element.isConnected ? undefined : records.findLast(isRemoval)
  if (removal)
    return { parent: removal.target, before: removal.previousSibling, after: removal.nextSibling }
  return { parent: element.parentNode, before: element.previousSibling, after: element.nextSibling }
}

/** The next control after a place or before it, in the smallest part of the page that has one. */
function neighbourOf({ parent, before, after }: Gap): HTMLElement | null {
  for (let node = after; node !== null; node = node.nextSibling) {
    const [first] = controlsIn(node)
    if (first) return first
  }
  for (let node = before; node !== null; node = node.previousSibling) {
    const last = controlsIn(node).at(-1)
    if (last) return last
  }
  if (!(parent instanceof HTMLElement) || !parent.isConnected) return mainPart()
  if (parent.matches('main, .dialog-content')) return parent
  return neighbourOf({
    parent: parent.parentNode,
    before: parent.previousSibling,
    after: parent.nextSibling,
  })
}

function controlsIn(node: Node): HTMLElement[] {
  if (!(node instanceof HTMLElement) || !node.isConnected) return []
  const controls = [
    ...(node.matches(tabbable) ? [node] : []),
    ...node.querySelectorAll<HTMLElement>(tabbable),
  ]
  // Those of other pages are no neighbours.
  const isNear = (control: Element) => !control.closest('.section-navigation')
  return controls.filter(
    control => isNear(control) && control.checkVisibility({ visibilityProperty: true }),
  )
}

const mainPart = () => document.querySelector<HTMLElement>('dialog[open] .dialog-content, main')
