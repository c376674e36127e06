import { expect, it } from 'vitest'
import { intendedPath, isRelayPath } from '#relay/recognize-relay-requests-and-wrong-base-urls.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from './support/relay-rig.ts'

const rig = startedOnce(relayRig)

it.each([
  ['/chat/completions', '/v1/chat/completions'],
  ['/v1/v1/chat/completions', '/v1/chat/completions'],
  ['/v1/chat/completions/', '/v1/chat/completions'],
  ['/responses', '/v1/responses'],
  ['/v1/v1/messages', '/v1/messages'],
  ['/messages/count_tokens', '/v1/messages/count_tokens'],
  ['/v1/v1/models', '/v1/models'],
  ['/v1/v1beta/models/m:generateContent', '/v1/models/m:generateContent'],
  ['/v1alpha/models/m:generateContent', '/v1/models/m:generateContent'],
  ['/openai/deployments/m/chat/completions', '/v1/chat/completions'],
  ['/openai/v1/responses', '/v1/responses'],
  ['/anthropic/v1/messages', '/v1/messages'],
  ['/v1/assistants', null],
  ['/app/tokens', null],
  ['/api/user/self', null],
  ['/', null],
])('the path %s is probably meant as %s', (path, meant) => {
  expect(intendedPath(path)).toBe(meant)
})

it('pages of the console with such a path are not answered by the relay', () => {
  expect(isRelayPath('/messages', 'GET')).toBe(false)
  expect(isRelayPath('/messages', 'POST')).toBe(true)
  expect(isRelayPath('/api/channel/', 'POST')).toBe(false)
  for (const path of ['/v1x', '/version', '/openai-settings', '/v1/chat']) {
    expect([path, isRelayPath(path, 'GET')]).toEqual([path, path === '/v1/chat'])
  }
})

async function post(path: string, headers: Record<string, string>) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{}',
  })
  return { status: response.status, body: await response.json() }
}

it('a client with a wrong base URL gets the right address, in its own format', async () => {
  const chat = await post('/chat/completions', { authorization: `Bearer sk-${KEY}` })
  expect(chat).toMatchObject({ status: 404, body: { error: { code: 'not_found', param: null } } })
  expect(chat.body.error.message).toContain('/v1/chat/completions')
  const messages = await post('/v1/v1/messages', { 'anthropic-version': '2023-06-01' })
  expect(messages).toMatchObject({ status: 404, body: { error: { type: 'not_found_error' } } })
  expect(messages.body.error.message).toContain('/v1/messages')
})

it.each(['/models', '/models/', '/models/sim-small'])(
  'a client that reads %s without /v1 gets the right address',
  async (path) => {
    expect(isRelayPath(path, 'GET')).toBe(true)
    const headers = { authorization: `Bearer sk-${KEY}` }
    const response = await fetch(`${rig.url}${path}`, { headers })
    expect(response.status).toBe(404)
    expect((await response.json()).error.message).toContain(`/v1${path.replace(/\/$/, '')}`)
  },
)

it('a client in a browser that lists the models without /v1 sees that answer', async () => {
  expect(isRelayPath('/models', 'OPTIONS')).toBe(true)
  const preflight = await fetch(`${rig.url}/models`, {
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
})

it.each(['/upload/v1beta/files', '/v1/cachedContents'])(
  'a client of Google gets an error in its format for %s, which is not served',
  async (path) => {
    const answer = await post(path, { 'x-goog-api-key': `sk-${KEY}` })
    expect(answer).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } })
  },
)
