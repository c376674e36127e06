import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { admitSources, NO_SOURCES, type PageSources } from './security-headers.ts'

/** Paths that are never a page of the console: an unknown one is an error, not the app. */
const NOT_PAGES =
  /^\/(api|v1|v1beta|pg|((mj-)?(fast|relax|turbo)\/)?mj|suno|assets|livez|readyz|metrics)(\/|\?|$)/

/** The page's own file, which every other page is too. */
const INDEX = /^\/(index\.html)?(\?|$)/

/**
 * Serves the built console from `dist`: hashed assets for ever, and `index.html` for every page,
 * since the console routes by itself. Answers the handler for routes that nothing else took.
 * `readSources`: what pages need of other sites at the moment.
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
    // Without an answer the page comes all the same, and lacks what other sites lend it.
    admitSources(reply, await readSources().catch(() => NO_SOURCES))
    if (!request.is404) return
    return reply.code(200).type('text/html').sendFile('index.html')
  })
}
