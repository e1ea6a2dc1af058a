// Compares the routes with the tables of an API specification: rows `| GET | /path | …` of its
// Markdown. node bench/specification.ts FILE
import { readFileSync } from 'node:fs'
import { resources } from '../lib/api/resources.ts'
import { endpoints } from '../lib/http/route.ts'
import { print } from './kit/stackroom.ts'

const served = new Set(resources.flatMap(endpoints).map(a => `${a.method} ${a.path}`))
const row = /^\|\s*(GET|POST|PUT|PATCH|DELETE)\s*\|\s*(\/\S+)\s*\|/gm
const wanted = new Set(
  [...readFileSync(process.argv[2]!, 'utf8').matchAll(row)].map(
    ([, method, path]) => `${method} ${path}`,
  ),
)
const missing = [...wanted].filter(name => !served.has(name.replace(' ', ' /api/v1')))
print({ specified: wanted.size, served: served.size, missing })
