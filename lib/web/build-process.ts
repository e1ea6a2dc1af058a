// Process that builds the web application and writes the build to its standard output: the server would retain the
// memory that it takes.
import { serialize } from 'node:v8'
import { buildApp } from './build.ts'

process.stdout.write(serialize(await buildApp()))
