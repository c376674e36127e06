import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalTarget, REFUSED_TARGET } from '#infra/http/canonical-request-target.ts'
import { type HttpFixture, httpFixture } from './http-fixture.ts'

describe('the target of a request', () => {
  it.each([
    ['/', '/'],
    ['/api/user/self?p=0&x=%61#', '/api/user/self?p=0&x=%61#'],
    ['/%61pi/user/%73elf', '/api/user/self'],
    ['/api/%75ser?%61=%61', '/api/user?%61=%61'],
    ['/v1/models/openai%2Fgpt%2d4o', '/v1/models/openai%2Fgpt-4o'],
    ['/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
    ['/%2561pi', '/%2561pi'],
    ['/app/%E4%B8%AD', '/app/%E4%B8%AD'],
    ['/API/user', '/API/user'],
    ['/api/user/', '/api/user/'],
    ['http://gate.example/api/user?x=//y', '/api/user?x=//y'],
    ['/app/[x]|"y"', '/app/[x]|"y"'],
    ['HTTP://GATE.example:3000/%61pi', '/api'],
    ['http://gate.example', '/'],
    ['http://gate.example?x=1', '/?x=1'],
  ])('%s is normalized to %s', (target, path) => {
    const host = target.includes(':3000') ? 'gate.example:3000' : 'gate.example'
    expect(canonicalTarget(target, host)).toBe(path)
    expect(canonicalTarget(path, host), 'read twice').toBe(path)
  })

  it.each([
    '//api/user',
    '/v1//models',
    '/v1/../api/user',
    '/./api',
    '/api/..',
    '/v1/%2e%2E/api',
    '/api/.%2e/x',
    '/api\\user',
    '/api/user#x',
    '/api/%',
    '/api/%6',
    '/api/%zz',
    'api/user',
    '*',
    '?x=1',
    'gate.example:443',
    'http://other.example/api/user',
    'http://user@gate.example/api/user',
    'ftp://gate.example/api/user',
    'http:///api/user',
    '/api/ x',
  ])('%s is refused', (target) => {
    expect(canonicalTarget(target, 'gate.example')).toBe(REFUSED_TARGET)
  })

  it('is refused in absolute form if the request names no host', () => {
    expect(canonicalTarget('http://gate.example/api', undefined)).toBe(REFUSED_TARGET)
  })
})

/**
 * Spellings of one path that are routed to the same handler. The checks that apply to the first
 * spelling must apply to all spellings.
 */
const SPELLINGS = [
  '/api/open',
  '/%61pi/open',
  '/%61%70%69/open',
  '/api/%6fpen',
  '/api/open/',
  'http://x/api/open',
  'http://x/%61pi/open',
]
const REFUSED = [
  '//api/open',
  '/v1/../api/open',
  '/./api/open',
  '/%2e/api/open',
  '/api/open#x',
  '/%zzapi/open',
  'http://y/api/open',
]
const OTHERS = ['/API/open', '/api%2Fopen', '/%2561pi/open', '/api%3Fopen']

describe('the management API with different spellings of its path', () => {
  let fixture: HttpFixture
  let port: number
  beforeAll(async () => {
    fixture = await httpFixture()
    port = Number(new URL(await fixture.app.listen({ port: 0, host: '127.0.0.1' })).port)
  })
  afterAll(() => fixture.close())

  const ask = async (target: string, headers = ''): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    let text = ''
    const request = `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n`
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.on('data', (bytes) => {
      text += bytes
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    return promise
  }
  const statusOf = (text: string): number => Number(text.slice(9, 12))

  it.each(SPELLINGS)('%s is never cached, and never answered for another site', async (path) => {
    const answer = await ask(path)
    expect(statusOf(answer)).toBe(200)
    expect(answer).toContain('cache-control: no-store, private\r\n')
    expect(answer).toContain('vary: Cookie, Authorization, Accept-Language')
    const byBrowser = await ask(path, 'sec-fetch-site: cross-site\r\n')
    expect([statusOf(byBrowser), byBrowser.includes('"CrossSite"')]).toEqual([403, true])
    const byOlder = await ask(path, 'origin: https://evil.example\r\n')
    expect([statusOf(byOlder), byOlder.includes('"CrossSite"')]).toEqual([403, true])
  })

  it.each(SPELLINGS)('%s is refused while the process drains', async (path) => {
    fixture.drain.isDraining = true
    try {
      const answer = await ask(path)
      expect([statusOf(answer), answer.includes('"Draining"')]).toEqual([503, true])
    } finally {
      fixture.drain.isDraining = false
    }
  })

  it.each(REFUSED)('%s is refused as malformed', async (path) => {
    const answer = await ask(path)
    expect([statusOf(answer), answer.includes('"InvalidAddress"')]).toEqual([400, true])
    expect(answer).toContain('x-content-type-options: nosniff')
  })

  it.each(OTHERS)('%s is a different address, which gets 404', async (path) => {
    expect(statusOf(await ask(path))).toBe(404)
  })

  it('a rewritten target is never logged, since its query may contain a secret', async () => {
    await ask('/%61pi/open?key=sk-in-the-query')
    expect(fixture.logged.join()).not.toContain('sk-in-the-query')
  })
})
