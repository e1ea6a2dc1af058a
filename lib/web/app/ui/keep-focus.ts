// Focus retention: when the focused element is removed or disabled, a neighbor gets the focus.

const tabbable =
  ':is(a[href], button, input, select, textarea, summary, [tabindex]):not([tabindex="-1"], :disabled)'

/** The focused element, or the last one before it disappeared. */
let focused: Element | null = null

/** Browsers move the focus to the document, so the next Tab would start at the top of the page. */
export function keepFocus() {
  document.addEventListener('focusin', event => {
    focused = event.target as Element
  })
  document.addEventListener('focusout', event => {
    // No new target: a click outside all controls, or a removal, which the observer handles.
    if (event.relatedTarget === null && focused?.isConnected) setTimeout(forgetLeft)
  })
  const observer = new MutationObserver(records => {
    if (focused === null || !isLost(focused)) return
    const lost = focused
    focused = null
    const place = gapOf(lost, records)
    neighborOf(place)?.focus({ preventScroll: true })
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

/** Another element may already have the focus. */
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

/** The next or previous control, within the smallest part of the page that has one. */
function neighborOf({ parent, before, after }: Gap): HTMLElement | null {
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
  return neighborOf({
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
  // Controls of other pages are not neighbors.
  const isNear = (control: Element) => !control.closest('.section-navigation')
  return controls.filter(
    control => isNear(control) && control.checkVisibility({ visibilityProperty: true }),
  )
}

const mainPart = () => document.querySelector<HTMLElement>('dialog[open] .dialog-content, main')
