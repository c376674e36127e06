import { createServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { createServer as createTls, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createOutbound,
  MANAGEMENT_LIMITS,
  type Outbound,
} from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { type ScriptedProvider, scriptedProvider } from '#test/relay/support/scripted-provider.ts'
import { type ConnectProxy, connectProxy } from '#test/support/connect-proxy.ts'

/** A certificate for `provider.invalid`, a name that no resolver knows. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqjCCAVCgAwIBAgIUb2FOoPK1zAmdy13cinx6imx4o3IwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQcHJvdmlkZXIuaW52YWxpZDAgFw0yNjExMjMwODAzNDVaGA8y
MTI2MTAzMDA4MDM0NVowGzEZMBcGA1UEAwwQcHJvdmlkZXIuaW52YWxpZDBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABB8JIYYXuv0J/+23WmduBmLdaFMWF7TR1anE
MjeOAb/BWi4LQg48lJWwMJcrIrOE8juHNsmZl8U4T76Gt/bM4tOjcDBuMB0GA1Ud
DgQWBBSO5+4DuWrxYNpslyIngLCtJ5TKETAfBgNVHSMEGDAWgBSO5+4DuWrxYNps
lyIngLCtJ5TKETAPBgNVHRMBAf8EBTADAQH/MBsGA1UdEQQUMBKCEHByb3ZpZGVy
LmludmFsaWQwCgYIKoZIzj0EAwIDSAAwRQIhAJIx4mqX6JFXLPSmbWqjNwJTE38R
Z5PQTzVd70v4MxKfAiAe09RNnrLzxdB7nLtdvbwT9Sa4kev+BfYXHGYP2C6e2w==
-----END CERTIFICATE-----
`

const CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEBfD6z26mO/KxXE7
Xc0YkheJzTfHndu6/zSk7Y/Z76uhRANCAAQfCSGGF7r9Cf/tt1pnbgZi3WhTFhe0
0dWpxDI3jgG/wVouC0IOPJSVsDCXKyKzhPI7hzbJmZfFOE++hrf2zOLT
-----END PRIVATE KEY-----
`

const limits = { ...MANAGEMENT_LIMITS, connectTimeoutMs: 300 }
const here = { port: 3000, isLoopback: true, privateUpstreams: [] }
const onNetwork = { port: 3000, isLoopback: false, privateUpstreams: [] }

let proxy: ConnectProxy
let provider: ScriptedProvider
let outbound: Outbound
let portOfProvider: number

beforeAll(async () => {
  proxy = await connectProxy()
  provider = await scriptedProvider()
  portOfProvider = Number(new URL(provider.url).port)
  provider.answers.set('*', { body: { ok: true } })
  outbound = createOutbound(operatorPolicy(here), limits)
})
beforeEach(() => {
  proxy.answer = 'carry'
  proxy.requests.length = 0
  provider.requests.length = 0
  proxy.names.set('provider.invalid', portOfProvider)
})
afterAll(async () => {
  await outbound.close()
  await proxy.close()
  await provider.close()
})

const get = (url: string, by = proxy.url, made = outbound) =>
  request(url, { dispatcher: made.via(by).dispatcher }).then(async ({ statusCode, body }) => ({
    statusCode,
    text: await body.text(),
  }))
const failure = (...asked: Parameters<typeof get>): Promise<{ code?: string; message: string }> =>
  get(...asked).then(
    () => ({ message: 'no failure' }),
    (error: Error & { code?: string }) => error,
  )

describe('calls through a proxy', () => {
  it('let the proxy resolve the name, and share one tunnel', async () => {
    for (let call = 0; call < 2; call += 1) {
      expect(await get('http://provider.invalid/v1')).toEqual({
        statusCode: 200,
        text: '{"ok":true}',
      })
      // A connection can be reused one event loop turn after its response was read.
      await new Promise((resume) => setImmediate(resume))
    }
    expect(proxy.requests).toEqual([{ line: 'CONNECT provider.invalid:80', login: undefined }])
    expect(provider.requests.map(({ path }) => path)).toEqual(['/v1', '/v1'])
  })

  it('send the decoded login to the proxy only', async () => {
    await get('http://provider.invalid/', proxy.urlOf('me%40site:p%3Aw%20%C3%A9'))
    const login = `Basic ${Buffer.from('me@site:p:w é').toString('base64')}`
    expect(proxy.requests).toEqual([{ line: 'CONNECT provider.invalid:80', login }])
    expect(provider.requests[0]?.headers).not.toHaveProperty('proxy-authorization')
  })

  it('use one pool per origin and proxy', () => {
    const pool = outbound.via(proxy.url).poolFor('http://a.example')
    expect(outbound.via(proxy.url).poolFor('http://a.example')).toBe(pool)
    expect(outbound.via(proxy.urlOf('u:p')).poolFor('http://a.example')).not.toBe(pool)
    expect(outbound.poolFor('http://a.example')).not.toBe(pool)
    expect(outbound.via(null).poolFor('http://a.example')).toBe(
      outbound.poolFor('http://a.example'),
    )
  })

  it('close a pool that was long unused, after its open requests have ended', async () => {
    const made = createOutbound(operatorPolicy(here), limits)
    const lasting = made.via(proxy.url).poolFor(provider.url)
    const { body } = await lasting.request({ method: 'GET', path: '/' })
    for (let other = 0; other < 256; other += 1) made.via(proxy.urlOf(`u:${other}`))
    expect(lasting.closed).toBe(true)
    expect(await body.text()).toBe('{"ok":true}')
    expect(made.via(proxy.url).poolFor(provider.url)).not.toBe(lasting)
    expect((await get(provider.url, proxy.url, made)).statusCode).toBe(200)
    await made.close()
  })

  it('use TLS with the provider itself, and check the provider’s certificate', async () => {
    const tls = createServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_request, response) =>
      response.end('sealed'),
    )
    // A TLS server in front of the proxy, so that the proxy is reached by TLS.
    const front = createTls({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (socket) => {
      const inner = connect(Number(new URL(proxy.url).port), '127.0.0.1')
      socket
        .on('error', () => inner.destroy())
        .pipe(inner)
        .pipe(socket)
      inner.on('error', () => socket.destroy())
    })
    const listening = (server: Server): Promise<number> =>
      new Promise((resolve) => {
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
      })
    proxy.names.set('provider.invalid', await listening(tls))
    const byTls = `https://u:p@provider.invalid:${await listening(front)}`
    const known = createOutbound(operatorPolicy(here), limits, (_name, answer) =>
      answer(null, [{ address: '127.0.0.1', family: 4 }]),
    )
    const trusted = getCACertificates('default')
    try {
      expect((await failure('https://provider.invalid/')).code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
      setDefaultCACertificates([...trusted, CERTIFICATE])
      for (const [by, made] of [
        [proxy.url, outbound],
        [byTls, known],
      ] as const) {
        expect((await get('https://provider.invalid/', by, made)).text).toBe('sealed')
      }
      expect(new Set(proxy.requests.map(({ line }) => line))).toEqual(
        new Set(['CONNECT provider.invalid:443']),
      )
    } finally {
      setDefaultCACertificates(trusted)
      await known.close()
      tls.closeAllConnections()
      for (const server of [tls, front]) await new Promise((resolve) => server.close(resolve))
    }
  })
})

describe('a call that the proxy or the policy refuses', () => {
  it.each([
    ['407', 407, 'PROXY_FAILED'],
    ['502', 502, 'PROXY_FAILED'],
    ['no HTTP', { text: 'SSH-2.0-x\r\n\r\n' }, 'PROXY_FAILED'],
    ['half an answer', { text: 'HTTP/1.1 200 OK\r\n' }, 'PROXY_FAILED'],
    ['an endless head', { text: `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(40_000)}` }, 'PROXY_FAILED'],
    ['silence', 'silence', 'PROXY_FAILED'],
  ] as const)('is not sent directly if the proxy answers with %s', async (_name, answer, code) => {
    proxy.answer = answer
    const error = await failure(provider.url, proxy.urlOf('someone:canary'))
    expect(error.code).toBe(code)
    expect(error.message).not.toMatch(/canary|127\.0/)
    expect(proxy.requests).toHaveLength(1)
    expect(provider.requests).toEqual([])
  })

  it.each(['', 'socks5://127.0.0.1:1', 'http://127.0.0.1:1/path', 'http://%zz@127.0.0.1:1', 'x'])(
    'is not sent directly if the proxy has the invalid address %j',
    async (text) => {
      expect((await failure(provider.url, text)).code).toBe('PROXY_FAILED')
      expect(provider.requests).toEqual([])
    },
  )

  it('is not sent directly if the policy refuses the proxy or no proxy listens', async () => {
    const strict = createOutbound(operatorPolicy(onNetwork), limits)
    const target = 'http://provider.invalid/'
    for (const refused of [proxy.url, 'http://169.254.169.254:80', 'http://10.0.0.1:3128']) {
      expect((await failure(target, refused, strict)).code).toBe('OUTBOUND_REFUSED')
    }
    expect((await failure(target, 'http://127.0.0.1:9')).code).toBe('PROXY_FAILED')
    await strict.close()
    expect([proxy.requests, provider.requests]).toEqual([[], []])
  })

  it.each(['http://169.254.169.254/', 'http://10.0.0.1/', 'http://127.0.0.1:3000/'])(
    'is refused before the proxy is contacted if its target is %s',
    async (url) => {
      expect((await failure(url)).code).toBe('OUTBOUND_REFUSED')
      expect(proxy.requests).toEqual([])
    },
  )
})
