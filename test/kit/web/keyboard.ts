// Use of a page by keyboard alone: every control is reached with Tab, shows its focus, and traps nothing.
import type { Page } from 'playwright-core'

// What follows runs in the page. A control of a group with arrow keys stands for its group: radio buttons of a name,
// cells of a grid.
const script = `(() => {
  const controls = 'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]'
  const nameOf = element => {
    const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
    return element.tagName.toLowerCase() + ' ' + (label.trim().slice(0, 40) || element.className)
  }
  const root = () => [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  const isShown = element => {
    const { width, height } = element.getBoundingClientRect()
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]')
  }
  const groupOf = element =>
    element.type === 'radio' ? 'radio ' + element.name : element.closest('.lists-window') ? 'grid' : element
  // The page of a book, which has keys of its own.
  const isWindow = ({ clientWidth, clientHeight }) => clientWidth * clientHeight > 0.7 * innerWidth * innerHeight
  const styleOf = element =>
    [element, element.parentElement, element.firstElementChild, element.nextElementSibling, element.closest('label')]
      .filter(Boolean)
      .map(part => {
        const { outlineStyle, outlineWidth, outlineColor, boxShadow, backgroundColor, borderColor } = getComputedStyle(part)
        const outline = outlineStyle === 'none' || outlineWidth === '0px' ? '' : outlineStyle + outlineWidth + outlineColor
        return [outline, boxShadow, backgroundColor, borderColor].join()
      })
      .join(';')
  window.keyboardWalk = {
    start() {
      document.activeElement?.blur()
      const expected = [...root().querySelectorAll(controls)].filter(
        element => element.tabIndex >= 0 && !element.matches(':disabled') && isShown(element),
      )
      const styles = new Map(expected.map(element => [element, styleOf(element)]))
      const problems = new Set()
      const reached = new Set()
      const onFocus = ({ target }) => {
        reached.add(groupOf(target))
        if (styles.get(target) === styleOf(target) && !isWindow(target))
          problems.add('without visible focus: ' + nameOf(target))
        const { top, bottom } = target.getBoundingClientRect()
        if (bottom < 0 || top > innerHeight) problems.add('focused out of view: ' + nameOf(target))
      }
      document.addEventListener('focusin', onFocus)
      Object.assign(this, { expected, problems, reached, onFocus })
      return expected.length
    },
    // What was rendered again is another control.
    missing() {
      return this.expected.filter(element => element.isConnected && isShown(element) && !this.reached.has(groupOf(element)))
    },
    end() {
      const { problems, onFocus } = this
      document.removeEventListener('focusin', onFocus)
      for (const element of this.missing()) problems.add('not reached: ' + nameOf(element))
      // Preact stores the listeners of an element in it.
      for (const element of root().querySelectorAll('*'))
        if (element.l?.clickfalse && isShown(element) && !element.closest(controls) && !element.matches('label, dialog, form') && !isWindow(element) &&
            !element.querySelector('a, button'))
          problems.add('for a pointer alone: ' + nameOf(element))
      return [...problems]
    },
  }
})()`

/** What cannot be used by keyboard on the page, or in the dialog that is open. The focus is at the beginning after it. */
export async function keyboardProblems(page: Page): Promise<string[]> {
  await page.evaluate(script)
  const count = await page.evaluate<number>('keyboardWalk.start()')
  // It may begin anywhere; dates have several fields. A trap leaves others that are not reached.
  for (let pressed = 0; pressed < 2 * count + 10; ) {
    // Most controls are reached at the first attempt.
    const more = pressed === 0 ? count : 4
    await Promise.all(Array.from({ length: more }, () => page.keyboard.press('Tab')))
    pressed += more
    if ((await page.evaluate<number>('keyboardWalk.missing().length')) === 0) break
  }
  return await page.evaluate<string[]>('keyboardWalk.end()')
}

/** The element with the focus, as text; `body` or `main` where it is at none. */
export const focusOf = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const { activeElement: element } = document
    return element.matches('body, main') ? element.tagName.toLowerCase() : (element.getAttribute('aria-label') ?? element.textContent).trim()
  })()`)

/**
 * Presses buttons and menu items by their names, the last of which opens a dialog; what cannot be used by keyboard in
 * it. Escape closes it.
 */
export async function dialogProblems(page: Page, names: readonly string[]): Promise<string[]> {
  const opener = page.locator('main').getByRole('button', { name: names[0]!, exact: true }).first()
  await opener.focus()
  for (const name of names) {
    const control = page.getByRole('button', { name, exact: true }).and(page.locator(':focus'))
    // In a menu.
    for (let steps = 0; (await control.count()) === 0 && steps < 12; steps++)
      await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    if (name !== names.at(-1)) await page.locator('.menu-content').waitFor()
  }
  const dialog = page.locator('dialog[open]')
  await dialog.waitFor()
  await dialog.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  const problems: string[] = []
  const isInside = () => page.evaluate<boolean>("document.activeElement.closest('dialog') !== null")
  if (!(await isInside())) problems.push('the focus is not in the dialog')
  problems.push(...(await keyboardProblems(page)))
  const scrolled = await page.evaluate<number>('scrollY')
  await page.evaluate("document.querySelector('dialog .dialog-content').focus()")
  for (const key of ['Space', 'PageDown', 'End']) await page.keyboard.press(key)
  if ((await page.evaluate<number>('scrollY')) !== scrolled)
    problems.push('the page behind scrolls')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  if ((await focusOf(page)) !== names[0]) problems.push(`the focus is at ${await focusOf(page)}`)
  return problems.map(problem => `${names.join(' > ')}: ${problem}`)
}
