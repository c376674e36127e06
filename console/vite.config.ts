import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const SERVER = 'http://127.0.0.1:3000'

/** Removes the woff fonts from styles, because every supported browser can read woff2. */
const woff2Only: Plugin = {
  name: 'woff2-only',
  enforce: 'pre',
  transform(code, id) {
    if (!/@fontsource.*\.css(?:\?|$)/.test(id)) return null
    return code.replace(/,\s*url\([^)]*\.woff\)\s*format\('woff'\)/g, '')
  },
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), woff2Only],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // The CSP forbids scripts and fonts in `data:` URLs, so no file is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        // The bundler would name a shared chunk after all pages that load it. The name is `shared`
        // instead.
        chunkFileNames: ({ name }) =>
          `assets/${name.startsWith('shared~') ? 'shared' : '[name]'}-[hash].js`,
        codeSplitting: {
          includeDependenciesRecursively: false,
          // Without groups, a page would load about 100 chunks, one for each set of pages that
          // share a module. A small group is merged into the most similar group. The modules of
          // lists have a group, so that a page without a list never loads them.
          groups: [
            { name: 'initial', tags: ['$initial'], priority: 2 },
            { name: 'list', test: /console\/ui\/(data-grid|lists)\//, priority: 1 },
            {
              name: 'shared',
              minShareCount: 5,
              entriesAware: true,
              entriesAwareMergeThreshold: 6_000,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '/api': { target: SERVER, ws: true },
      '/v1': SERVER,
      '/pg': SERVER,
      '/transparency-log': SERVER,
      '/checkpoint': SERVER,
      '/tile': SERVER,
    },
  },
})
