// The environment without PostgreSQL's variables (PGUSER, PGPORT …): settings only come from the
// configuration.

export const withoutPostgresVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')))
