// Environment variables without those of PostgreSQL (PGUSER, PGPORT …): settings come from the configuration alone.

export const withoutPostgresVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')))
