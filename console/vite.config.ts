import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const SERVER = 'http://127.0.0.1:3000'

/** Every supported browser can read woff2. */
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
    // The CSP forbids scripts and fonts in `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        // The name of a shared chunk would list the pages that load it.
        chunkFileNames: ({ name }) =>
          `assets/${name.startsWith('shared~') ? 'shared' : '[name]'}-[hash].js`,
        codeSplitting: {
          // Without groups, each set of pages with a common module gets a chunk (about 100 a page).
          // Pages still load only what they need: a small group joins the most similar one.
          groups: [
            { name: 'initial', tags: ['$initial'], priority: 1 },
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
    },
  },
})
