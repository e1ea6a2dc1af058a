// Failed assertions of a TAP log, for the end of a CI log: name, place and a short diff of each.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

/** `names` from the file down to the assertion; `diff` holds the lines that differ, or what else is known. */
type TestFailure = { names: string[]; place: string; diff: string[] }

const indentWidth = 4
const maxDiffLines = 15
const maxLineLength = 200
const maxReportLines = 80

/** The assertions that failed, in the order of the log. */
export async function readFailures(lines: AsyncIterable<string>): Promise<TestFailure[]> {
  const failures: TestFailure[] = []
  const subtests: string[] = []
  // A test contains a failure if one was found since it began.
  const countsBefore: number[] = []
  let details: { indent: number; lines: string[]; names: string[] } | null = null
  for await (const line of lines) {
    const indent = line.length - line.trimStart().length
    const text = line.trimStart()
    if (details && text === '---' && details.lines.length === 0) continue
    if (details && indent >= details.indent + 2 && text !== '...') {
      details.lines.push(line.slice(details.indent + 2))
      continue
    }
    if (details && text === '') {
      details.lines.push('')
      continue
    }
    if (details) failures.push(failureOf(details.names, details.lines))
    details = null
    if (indent % indentWidth !== 0) continue
    const depth = indent / indentWidth
    const subtest = /^# Subtest: (.*)$/.exec(text)
    if (subtest) {
      // Its comment is written inside it or, with buffered output, before it.
      subtests.splice(depth, Infinity, subtest[1]!)
      countsBefore.splice(depth, Infinity, failures.length)
      continue
    }
    const failed = /^not ok \d+(?: - (.*))?$/.exec(text)
    if (!failed || / # (?:TODO|SKIP)\b/i.test(text)) continue
    const name = (failed[1] ?? '').replace(/ # time=\S+( \{)?$/, '')
    const ownIndex = subtests.findIndex((other, i) => i >= depth - 1 && other === name)
    const isParent = ownIndex !== -1 && failures.length > countsBefore[ownIndex]!
    if (isParent) continue
    const parents = subtests.slice(0, ownIndex === -1 ? depth : ownIndex)
    details = { indent, lines: [], names: [...parents, name] }
  }
  if (details) failures.push(failureOf(details.names, details.lines))
  return failures
}

function failureOf(names: string[], lines: readonly string[]): TestFailure {
  const field = (key: string) =>
    lines.map(line => new RegExp(`^ *${key}: (.+)$`).exec(line)?.[1]).find(Boolean)
  const diff = block(lines, 'diff')
  const stack = block(lines, 'stack')
  const inTest = stack.map(line => /\btest\/(?!kit\/)[^\s:]+:\d+/.exec(line)?.[0]).find(Boolean)
  const file = field('fileName')
  const at = file ? `${file}:${field('lineNumber')}` : ''
  const known = lines.filter(line => /^(?:code|error|exitCode|signal|expired|timeout): /.test(line))
  return {
    names,
    place: inTest ?? at,
    diff: diff.length > 0 ? changes(diff) : [...known, ...stack],
  }
}

/** The lines of a block of YAML (`key: |`). */
function block(lines: readonly string[], key: string): string[] {
  const start = lines.findIndex(line => new RegExp(`^${key}: *[|>]`).test(line))
  if (start === -1) return []
  const end = lines.findIndex((line, i) => i > start && line !== '' && !line.startsWith(' '))
  return lines.slice(start + 1, end === -1 ? undefined : end).filter(line => line.trim() !== '')
}

/** The lines of a diff that were added or removed, without its heading. */
function changes(diff: readonly string[]): string[] {
  const changed = diff.filter(line => /^ *[-+](?!-- expected|\+\+ actual)/.test(line))
  return changed.length > 0 ? changed : [...diff]
}

/** Text for the end of a log: at most 80 lines, and of each failure at most 15 lines of its diff. */
export function formatFailures(failures: readonly TestFailure[]): string[] {
  const cut = (line: string) =>
    line.length > maxLineLength ? `${line.slice(0, maxLineLength)} …` : line
  const report: string[] = []
  for (const [i, { names, place, diff }] of failures.entries()) {
    const file = names.findLastIndex(name => name.endsWith('.test.ts'))
    const titles = file === names.length - 1 ? names.slice(file) : names.slice(file + 1)
    const more = diff.length - maxDiffLines
    const entry = [
      cut(`✗ ${titles.join(' › ')}`),
      `    at ${place || names[file] || names[0]}`,
      ...diff.slice(0, maxDiffLines).map(line => cut(`    ${line.trimEnd()}`)),
      ...(more > 0 ? [`    … ${more} more lines`] : []),
    ]
    if (report.length > 0 && report.length + entry.length > maxReportLines)
      return [...report, `… and ${failures.length - i} more failures`]
    report.push(...entry)
  }
  return report
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const lines = createInterface({ input: createReadStream(process.argv[2]!) })
  process.stdout.write(`${formatFailures(await readFailures(lines)).join('\n')}\n`)
}
