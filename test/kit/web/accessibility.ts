// Accessibility of a page, checked by axe-core against WCAG 2.2 A and AA and its best practices.
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Violations of the impact `serious` or `critical`, as text. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<axe.AxeResults>(
    "axe.run(document, { resultTypes: ['violations'] })",
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => {
      const places = nodes.slice(0, 5).map(({ html, any, all, none }) => {
        const [check] = [...any, ...all, ...none]
        return `${html.slice(0, 200)} (${check?.message ?? ''})`
      })
      return `${id}: ${help}: ${nodes.length} × ${places.join(' | ')}`
    })
}
