// Series by the authors of their own and of their books, without those that only books have that an age limit hides.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks } from '../../../auth/viewer.ts'
import { searchKey } from '../../../name/text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { creditRole } from '../../derived/author-key.ts'
import type { Predicate } from '../condition.ts'
import { likePattern } from './operators.ts'
import { type PlanContext, seriesWhere } from './plan-context.ts'
import { isSeenBook } from './series-of-books.ts'

type Operator = Extract<Predicate['test'], { kind: 'text' }>['operator']
type CreditTest = Extract<Predicate['test'], { kind: 'credit' }>

/** Of any role; with a null test, series with authors. */
export function seriesOfAuthor(context: PlanContext, test: Predicate['test']): Fragment {
  const { sql } = context
  if (test.kind !== 'text')
    return seriesWithAuthor(context, { stored: sql`x.author_key <> ''`, isOne: sql`true` })
  const { value, operator } = test
  const start = operator === 'equals' || operator === 'beginsWith' ? '\n' : ''
  const end = operator === 'equals' || operator === 'endsWith' ? '\n' : ''
  const name = likePattern(keyOf(value), 'equals')
  return seriesWithAuthor(context, {
    stored: sql`(x.author_key <> '' and x.author_key like ${`%${start}${name}${end}%`})`,
    isOne: nameTest(sql, operator, value),
  })
}

/** Each credit is a line of name, tab, role. */
export function seriesOfCredit(context: PlanContext, { operator, name, role }: CreditTest) {
  const { sql } = context
  const isExact = operator === 'equals'
  const ofRole = role === null ? sql`true` : sql`${creditRole(sql)} = ${role}`
  if (name === null)
    return seriesWithAuthor(context, {
      stored:
        role === null
          ? sql`x.credit_key <> ''`
          : sql`x.credit_key like ${`%\t${literal(role)}\n%`}`,
      isOne: ofRole,
    })
  const isOne = sql`(${nameTest(sql, isExact ? 'equals' : 'contains', name)} and ${ofRole})`
  const part = `${isExact ? '\n' : ''}${literal(searchKey(name))}`
  if (isExact) {
    const end = role === null ? '' : `${literal(role)}\n`
    const stored = sql`x.credit_key like ${`%${part}\t${end}%`}`
    return seriesWithAuthor(context, { stored, isOne })
  }
  // A name that contains the text, not one name and the role of another.
  const inLine = role === null ? sql`` : sql`and split_part(c.line, ${'\t'}, 2) = ${role}`
  const stored = sql`(x.credit_key like ${`%${part}%`} and exists (
    select from string_to_table(x.credit_key, ${'\n'}) c(line)
    where split_part(c.line, ${'\t'}, 1) like ${`%${part}%`} ${inLine}))`
  return seriesWithAuthor(context, { stored, isOne })
}

const keyOf = (name: string) => searchKey(name).replaceAll(/[\n\t]/g, ' ')
const literal = (text: string) => likePattern(text.replaceAll(/[\n\t]/g, ' '), 'equals')

/** On author `a`, which is JSON. */
function nameTest(sql: Queryable, operator: Operator, name: string): Fragment {
  const stored = sql`translate(folded(a->>'name'), ${'\n\t'}, '  ')`
  return sql`${stored} like ${likePattern(keyOf(name), operator)}`
}

type AuthorTest = {
  /** On `series x`: an author of its own or of any of its books. */
  stored: Fragment
  /** The same on author `a`, which is JSON. */
  isOne: Fragment
}

function seriesWithAuthor(context: PlanContext, { stored, isOne }: AuthorTest): Fragment {
  const { sql, viewer } = context
  if (!hidesBooks(viewer)) return seriesWhere(context, stored)
  const isOneOf = (authors: Fragment) =>
    sql`exists (select from jsonb_array_elements(${authors}) a where ${isOne})`
  return seriesWhere(
    context,
    sql`${stored} and (
      x.id not in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
      or ${isOneOf(sql`x.authors`)}
      or exists (
        select from book y
        where y.series_id = x.id and ${isSeenBook(sql, viewer)} and ${isOneOf(sql`y.authors`)}))`,
  )
}
