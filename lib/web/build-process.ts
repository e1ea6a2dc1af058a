// Child process that builds the web application and writes the build to standard output: the server would retain the
// memory it uses.
import { serialize } from 'node:v8'
import { buildApp } from './build.ts'

process.stdout.write(serialize(await buildApp()))
