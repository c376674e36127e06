import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_SOURCES, type PageSources } from '#infra/http/security-headers.ts'
import { serveConsole } from '#infra/http/serve-console.ts'

describe('the console’s files', () => {
  const dist = mkdtempSync(join(tmpdir(), 'console-'))
  let app: FastifyInstance
  let sources: PageSources | null = NO_SOURCES

  beforeAll(async () => {
    mkdirSync(join(dist, 'assets'))
    writeFileSync(join(dist, 'index.html'), '<!doctype html>the console')
    writeFileSync(join(dist, 'favicon.svg'), '<svg/>')
    writeFileSync(join(dist, 'assets', 'main-1a2b.js'), 'export {}')
    app = fastify()
    await serveConsole(app, dist, async () => {
      if (sources === null) throw new Error('the database is away')
      return sources
    })
    await app.ready()
  })
  afterAll(async () => {
    await app.close()
    rmSync(dist, { recursive: true })
  })

  it.each(['/', '/index.html', '/setup', '/login?next=%2F', '/app/tokens', '/no/such/page'])(
    '%s is the page, which is revalidated each time',
    async (url) => {
      const { statusCode, headers, body } = await app.inject({ url })
      expect([statusCode, body]).toEqual([200, '<!doctype html>the console'])
      expect(headers).toMatchObject({ 'cache-control': 'no-cache' })
      expect(headers['content-type']).toContain('text/html')
    },
  )

  it('pages can load from other sites only what an enabled option needs', async () => {
    const outside = 'https://challenges.example'
    for (const url of ['/', '/index.html', '/login']) {
      sources = NO_SOURCES
      const plain = String((await app.inject({ url })).headers['content-security-policy'] ?? '')
      expect(plain).not.toContain('https:')
      const all = { scripts: [outside], frames: [outside], images: [outside], forms: [outside] }
      sources = { ...all, media: [outside], hasPopups: true }
      const { headers } = await app.inject({ url })
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain(`img-src 'self' data: blob: ${outside};`)
      expect(headers['cross-origin-opener-policy']).toBe('same-origin-allow-popups')
      expect(policy).toContain(`script-src 'self' ${outside};`)
      expect(policy).toContain(`media-src 'self' ${outside};`)
      expect(policy).toContain(`frame-src ${outside};`)
      expect(policy).toContain(`form-action 'self' ${outside};`)
      expect(policy).toContain("require-trusted-types-for 'script'")
    }
    const file = await app.inject({ url: '/assets/main-1a2b.js' })
    expect(String(file.headers['content-security-policy'] ?? '')).not.toContain(outside)
    sources = null
    expect((await app.inject({ url: '/login' })).statusCode).toBe(200)
    sources = NO_SOURCES
  })

  it.each([
    ['/favicon.svg', 'no-cache'],
    ['/assets/main-1a2b.js', 'public, max-age=31536000, immutable'],
  ])('%s has the cache policy: %s', async (url, kept) => {
    const { statusCode, headers } = await app.inject({ url })
    expect([statusCode, headers['cache-control']]).toEqual([200, kept])
  })

  it.each([
    ['GET', '/assets/old-9z.js'],
    ['GET', '/api/nothing'],
    ['POST', '/setup'],
    ['GET', '/checkpoint'],
    ['GET', '/checkpoint/old'],
    ['GET', '/tile/0/x'],
    ['GET', '/tile'],
    ['GET', '/transparency-log/old'],
  ] as const)('%s %s gets no page', async (method, url) => {
    expect((await app.inject({ method, url })).statusCode).toBe(404)
  })
})
