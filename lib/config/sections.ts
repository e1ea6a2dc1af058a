// Sections of the configuration and their titles.

/** Titles of the sections, in the order of the documentation. */
export const sections: Record<string, string> = {
  data_dir: 'General',
  database: 'Database',
  application: 'Application',
  api: 'API',
  opds: 'OPDS',
  koreader: 'KOReader sync',
  komga: 'Komga-compatible API',
  rate_limit: 'Rate limits',
  auth: 'Authentication',
  email: 'E-mail',
  filesystem: 'File system',
  metrics: 'Metrics',
  logging: 'Logging',
  pipeline: 'Pipeline',
  thumbnail: 'Thumbnails',
  files: 'Files',
  deduplication: 'Deduplication',
  display: 'Display',
  events: 'Events',
  maintenance: 'Maintenance',
  purge: 'Purge',
  scheduler: 'Scheduler',
  tasks: 'Tasks',
  watch: 'Watching',
}
