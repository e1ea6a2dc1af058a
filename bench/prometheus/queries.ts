// PromQL queries of the dashboard and of the alert rules.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export type Query = { where: string; text: string }

type Panel = { title: string; targets?: { expr: string }[] }

export function dashboardQueries(): Query[] {
  const file = join(import.meta.dirname, '..', '..', 'deploy', 'monitoring', 'dashboard.json')
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: Panel[] }
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      where: title,
      text: expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.+'),
    })),
  )
}

type Rule = { alert: string; expr: string }

// ` > 0.01`, ` == 0`, ` > 3 * max by (library) (…)`
const comparison = /\s(==|!=|>=|<=|>|<)\s/

/** Both sides of every comparison: the rule itself finds nothing as long as all is well. */
export function alertQueries(file: string): Query[] {
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups
    .flatMap(group => group.rules)
    .flatMap(({ alert, expr }) =>
      expr
        .split(/\sand\s/)
        .flatMap(part => part.split(comparison))
        .filter(part => !comparison.test(` ${part} `) && /[a-z]/.test(part))
        .map(text => ({ where: alert, text: text.trim() })),
    )
}
