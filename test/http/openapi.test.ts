// The description of the API: complete, valid for two linters, the same bytes every time.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { test } from 'tap'
import { parse } from 'yaml'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi.ts'
import { commandLine } from '../kit/command.ts'

const document = openapiDocument(resources, '1.2.3') as any
const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
  Object.entries<any>(methods).map(([method, operation]) => ({ path, method, operation })),
)

test('it has every operation of the specification', async t => {
  const file = join(import.meta.dirname, 'specification.txt')
  const wanted = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split(' ') as [string, string])
  t.ok(wanted.length > 80)
  for (const [method, path] of wanted) {
    t.ok(document.paths[`/api/v1${path}`]?.[method.toLowerCase()], `${method} ${path}`)
  }
})

test('it is valid', async t => {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  t.ok(valid, JSON.stringify(errors)?.slice(0, 2000))
  const config = await createConfig({
    extends: ['recommended'],
    rules: { 'no-server-example.com': 'off', 'operation-4xx-response': 'error' },
  })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  t.same(problems.map(p => `${p.ruleId} ${p.message} ${p.location[0]?.pointer}`).slice(0, 20), [])
})

test('operations have names of their own, summaries and errors', async t => {
  const names = operations.map(o => o.operation.operationId)
  t.equal(new Set(names).size, names.length)
  for (const { path, method, operation } of operations) {
    t.match(operation.summary, /^[A-Z].{3,80}$/, `${method} ${path} has a summary`)
    t.ok(Object.keys(operation.responses).some(status => status.startsWith('2')))
    const declared = (operation.parameters ?? [])
      .filter((p: any) => p.in === 'path')
      .map((p: any) => p.name)
    t.same(
      declared,
      [...path.matchAll(/\{(\w+)\}/g)].map(m => m[1]),
      `${path} declares its parameters`,
    )
  }
})

test('the command prints it without a database, the same every time', async t => {
  const { stackroom } = await commandLine(t)
  const [json, again, yaml] = await Promise.all([
    stackroom.plain(['openapi']),
    stackroom.plain(['openapi', '--format', 'json', '--output', '-']),
    stackroom.plain(['openapi', '--format', 'yaml']),
  ])
  t.equal(json.code, 0)
  t.equal(json.stdout, again.stdout)
  t.same(parse(yaml.stdout), JSON.parse(json.stdout))
  t.equal(JSON.parse(json.stdout).openapi, '3.1.0')
})
