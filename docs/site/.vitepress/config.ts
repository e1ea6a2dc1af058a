// The documentation as a static site (npm run site): README as its first page, the documents beside it.
// SITE_BASE is the path it is served at, SITE_REPOSITORY the address of files in the repository.
import { defineConfig, type MarkdownRenderer } from 'vitepress'
import { anchorOf } from '../anchor.ts'
import { checkLinks } from '../check.ts'
import { copyPages } from '../pages.ts'
import { linkSources } from '../sources.ts'

/** `{{…}}` in code is no expression of Vue. */
function literalCode(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('literal-code', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      if (token.type === 'code_inline') token.attrSet('v-pre', '')
  })
}

const base = process.env.SITE_BASE ?? '/'

const page = (text: string, name: string) => ({ text, link: `/docs/${name}` })

copyPages()
export default defineConfig({
  title: 'Stackroom',
  description: 'A self-hosted library server for comics, manga and ebooks',
  lang: 'en',
  base,
  srcDir: 'pages',
  rewrites: { 'README.md': 'index.md' },
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  cleanUrls: true,
  buildEnd: ({ outDir }) => checkLinks(outDir, base),
  markdown: {
    anchor: { slugify: anchorOf },
    languageAlias: { caddyfile: 'nginx' },
    config: markdown => {
      markdown.use(linkSources).use(literalCode)
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    sidebar: [
      {
        text: 'The first week',
        items: [
          { text: 'Stackroom', link: '/' },
          page('Installation', 'install'),
          page('Containers, systemd, Kubernetes', 'deploy'),
          page('The first week', 'first-week'),
          page('Web application', 'web'),
          page('Reading apps', 'reading-apps'),
        ],
      },
      {
        text: 'Afterwards',
        items: [
          page('Operations', 'operations'),
          page('Configuration', 'configuration'),
          page('Metadata', 'metadata'),
          page('Sources', 'sources'),
          page('Releases', 'releases'),
          page('Reading history', 'reading-history'),
          { text: 'Security', link: '/SECURITY' },
        ],
      },
      { text: 'Very large libraries', items: [page('Very large libraries', 'large-libraries')] },
      {
        text: 'Programs',
        collapsed: true,
        items: [page('REST API', 'api'), page('Komga-compatible API', 'komga-api')],
      },
      {
        text: 'The project',
        collapsed: true,
        items: [
          page('Architecture', 'architecture'),
          page('Contributing', 'contributing'),
          page('Writing a test', 'testing'),
          page('Translating', 'translating'),
          page('Operations and the browser', 'browser'),
          page('Promises', 'promises'),
          { text: 'Changelog', link: '/CHANGELOG' },
        ],
      },
    ],
  },
})
