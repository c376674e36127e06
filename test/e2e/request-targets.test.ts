import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testProduct } from '#test/support/test-product.ts'

const product = startedOnce(testProduct)

/** Returns the status and body of a request whose target is sent unchanged. */
async function ask(target: string, headers: readonly string[] = []) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const { hostname, port, host } = new URL(product.url)
  let text = ''
  const lines = [`GET ${target} HTTP/1.1`, `host: ${host}`, ...headers]
  if (headers.every((line) => !line.startsWith('upgrade'))) lines.push('connection: close')
  const socket = connect(Number(port), hostname, () =>
    socket.write(`${lines.join('\r\n')}\r\n\r\n`),
  )
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.on('close', () => resolve(text))
  socket.on('error', reject)
  const answer = await promise
  return { status: Number(answer.slice(9, 12)), text: answer }
}

describe('a path that the relay, the router and the checks read alike', () => {
  it.each(['/v1/models', '/%761/models', '/v1/%6dodels'])('%s goes to the relay', async (path) => {
    const { status, text } = await ask(path)
    expect([status, text.includes('"missing_key"')]).toEqual([401, true])
  })

  it('an absolute target goes to the relay too, if it names the product’s own host', async () => {
    expect((await ask(`${product.url}/v1/models`)).text).toContain('"missing_key"')
    expect((await ask('http://other.example/v1/models')).status).toBe(400)
  })

  it.each(['//api/user/self', '/api/../v1/models', '//x/v1/models', '/api//v1/models'])(
    '%s is refused before any handler runs',
    async (path) => {
      const { status, text } = await ask(path)
      expect([status, text.includes('"InvalidAddress"')]).toEqual([400, true])
    },
  )

  it.each([
    ['/v1/../api/user/self', '"code":"invalid_path"'],
    ['/v1/%2e%2e/api/user/self', '"code":"invalid_path"'],
    ['//v1//..//api/user/self', '"code":"invalid_path"'],
    ['/mj/./submit', '"code":"invalid_path"'],
    ['/v1/models/%zz', '"code":"invalid_path"'],
    ['/v1/messages/%zz', '"type":"invalid_request_error"'],
    ['/v1beta/models/%zz', '"status":"INVALID_ARGUMENT"'],
  ])('%s is refused in the format of its API', async (path, expected) => {
    const { status, text } = await ask(path)
    expect(status, text).toBe(400)
    expect(text).toContain(expected)
    expect(text).toContain('The path of the request URL')
  })

  it.each(['//v1/models', '/v1//models', '//v1///models?x=//y', '//v1/%6dodels'])(
    'the slashes of %s count as one in a path of the relay',
    async (path) => {
      const { status, text } = await ask(path)
      expect([status, text.includes('"missing_key"')]).toEqual([401, true])
    },
  )

  it.each([
    ['/v1alpha/models/m', '"status":"NOT_FOUND"'],
    ['/v2/chat', '"code":"not_found"'],
    ['/openai/deployments/m/chat/completions', '"code":"not_found"'],
    ['/anthropic/v1/messages', '"type":"not_found_error"'],
  ])('%s, which is not served, gets an error in the format of its API', async (path, expected) => {
    const { status, text } = await ask(path)
    expect(status, text).toBe(404)
    expect(text).toContain(expected)
  })

  it.each(['/api/status', '/%61pi/status', '/api/%73tatus'])(
    '%s is refused for another site, and is never cached',
    async (path) => {
      const foreign = ['sec-fetch-site: cross-site', 'origin: https://evil.example']
      expect((await ask(path, foreign)).text).toContain('"CrossSite"')
      const { status, text } = await ask(path)
      expect([status, /cache-control: no-store, private/.test(text)]).toEqual([200, true])
    },
  )

  it.each(['/v1/responses', '/v1/%72esponses', '//v1//responses'])(
    '%s asks for a key of the relay',
    async (path) => {
      const websocket = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']
      const { status, text } = await ask(path, [
        ...websocket,
        'sec-websocket-key: YWJjZGVmZ2hpamtsbW5vcA==',
      ])
      expect([status, text.includes('"missing_key"')]).toEqual([401, true])
    },
  )

  it.each(['/v1/responses', '/v1/realtime?model=x', '/api/live'])(
    'an upgrade to %s before the answer to an earlier request closes the connection',
    async (path) => {
      const { hostname, port, host } = new URL(product.url)
      const websocket = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']
      const requests = [
        [`GET /v1/models HTTP/1.1`, `host: ${host}`],
        [`GET ${path} HTTP/1.1`, `host: ${host}`, ...websocket],
      ].map((lines) => `${lines.join('\r\n')}\r\n\r\n`)
      const socket = connect(Number(port), hostname, () => socket.write(requests.join('')))
      socket.on('error', () => {})
      await new Promise((closed) => socket.resume().on('close', closed))
      expect((await ask('/v1/models')).status).toBe(401)
    },
  )

  it('an upgrade to another protocol is a plain request', async () => {
    const upgrade = ['connection: upgrade, close', 'upgrade: h2c']
    expect((await ask('/v1/models', upgrade)).text).toContain('"missing_key"')
  })

  it.each(['/api/live', '/%61pi/live', '/api/./live'])(
    '%s opens no socket for another site',
    async (path) => {
      const { status } = await ask(path, [
        'connection: upgrade',
        'upgrade: websocket',
        'sec-websocket-version: 13',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
        'origin: https://evil.example',
      ])
      expect(status).toBe(path.includes('.') ? 400 : 403)
    },
  )
})

it('a connection ends after 1 000 requests, and the next request gets a new one', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = async (path: string) => {
    const request = get(`${product.url}${path}`, { agent })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    await once(response.resume(), 'end')
    return [response.statusCode, response.headers.connection, request.reusedSocket]
  }
  expect(await ask('/livez')).toEqual([200, 'keep-alive', false])
  for (let n = 2; n < 1_000; n += 1) await ask('/livez')
  expect(await ask('/v1/models')).toEqual([401, 'close', true])
  expect(await ask('/livez')).toEqual([200, 'keep-alive', false])
  agent.destroy()
})
