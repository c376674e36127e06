import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { admitSources, NO_SOURCES, type PageSources } from './security-headers.ts'

/** The first path segments of APIs, files and the transparency log. */
const FIRST_PARTS = [
  ...['api', 'v1', 'v1beta', 'pg', '((mj-)?(fast|relax|turbo)/)?mj', 'suno', 'kling', 'jimeng'],
  ...['assets', 'livez', 'startupz', 'readyz', 'metrics', 'transparency-log', 'checkpoint', 'tile'],
]

/**
 * Matches paths that are never pages of the console. An unknown path of this kind gets an error
 * instead of the console.
 */
const NOT_PAGES = new RegExp(`^/(${FIRST_PARTS.join('|')})(/|\\?|$)`)

/** Matches the URL paths of `index.html`. */
const INDEX = /^\/(index\.html)?(\?|$)/

/**
 * Serves the built console. Assets have hashed names and are cached for a year. Every page gets
 * `index.html`, because the console chooses the page in the browser. `readSources` returns the
 * origins of other sites that the pages currently need.
 */
export async function serveConsole(
  app: FastifyInstance,
  dist: string,
  readSources: () => Promise<PageSources> = async () => NO_SOURCES,
): Promise<void> {
  await app.register(fastifyStatic, {
    root: join(dist, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    decorateReply: false,
    immutable: true,
    maxAge: '365d',
    index: false,
  })
  await app.register(fastifyStatic, {
    root: dist,
    prefix: '/',
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply) => void reply.header('cache-control', 'no-cache'),
    wildcard: false,
    globIgnore: ['assets/**', '**/*.br', '**/*.gz', '.*'],
  })
  app.addHook('preValidation', async (request, reply) => {
    if (request.method !== 'GET' || NOT_PAGES.test(request.url)) return
    if (!request.is404 && !INDEX.test(request.url)) return
    // If the sources can't be read, the page is served without content from other sites.
    admitSources(reply, await readSources().catch(() => NO_SOURCES))
    if (!request.is404) return
    return reply.code(200).type('text/html').sendFile('index.html')
  })
}
