import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

/** Paths that are never a page of the console: an unknown one is an error, not the app. */
const NOT_PAGES = /^\/(api|v1|v1beta|pg|mj|suno|assets|livez|readyz|metrics)(\/|\?|$)/

/**
 * Serves the built console from `dist`: hashed assets for ever, and `index.html` for every page,
 * since the console routes by itself. Answers the handler for routes that nothing else took.
 */
export async function serveConsole(app: FastifyInstance, dist: string): Promise<void> {
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
    if (!request.is404 || request.method !== 'GET' || NOT_PAGES.test(request.url)) return
    return reply.code(200).type('text/html').sendFile('index.html')
  })
}
