import { beforeEach, describe, expect, it } from 'vitest'
import { tokensStream } from '#domain/tokens/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { RealtimeClient } from '../support/realtime-client.ts'
import { CHARGE, realtimeProvider } from '../support/realtime-provider.ts'
import { addRealtimeChannel, bills, MODEL } from '../support/realtime-site.ts'
import { KEY, PROVIDER_KEY, relayRig, TOKEN, USER } from '../support/relay-rig.ts'

let now = Date.now()
const provider = startedForEach(realtimeProvider)
const rig = startedForEach(() => {
  now = Date.now()
  return relayRig({}, {}, undefined, { now: () => now })
})

beforeEach(() => addRealtimeChannel(rig, provider))

const post = async (path: string, body: unknown, key = `sk-${KEY}`, more: object = {}) => {
  const response = await fetch(`${rig.url}/v1/realtime/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...more },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const SESSION = {
  ...{ type: 'realtime', model: MODEL, instructions: 'Speak like a pirate.' },
  audio: { input: { turn_detection: null } },
}

const secretFor = async (session: object = SESSION): Promise<string> => {
  const { status, body } = await post('client_secrets', { session })
  expect(status).toBe(200)
  return String(body.value)
}

const byProtocol = (secret: string, model = MODEL) =>
  new RealtimeClient(rig.url, model, {
    headers: {},
    protocols: ['realtime', `openai-insecure-api-key.${secret}`],
  })

describe('a temporary key', () => {
  it('opens a session of its token with its settings, charged as any other', async () => {
    const { body } = await post('client_secrets', { session: SESSION })
    const { value, expires_at, session } = body
    expect(value).toMatch(/^ek_[0-9a-f]{48}$/)
    expect(expires_at).toBe(Math.floor((now + 600_000) / 1_000))
    expect(session).toMatchObject({ ...SESSION, object: 'realtime.session' })
    expect(provider.sessions).toEqual([])
    const client = byProtocol(String(value))
    const created = await client.event('session.created')
    expect(created.session).toMatchObject({ model: MODEL, instructions: SESSION.instructions })
    const [upstream] = provider.sessions
    expect(upstream?.request.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`)
    expect(upstream?.events[0]?.session).toMatchObject({ instructions: SESSION.instructions })
    client.send({ type: 'response.create' })
    await client.event('response.done')
    expect(await bills(rig)).toMatchObject([{ charge: CHARGE, tokenId: TOKEN, userId: USER }])
  })

  it('may be used several times, until it expires', async () => {
    const secret = await secretFor()
    await byProtocol(secret).open()
    await byProtocol(secret).open()
    now += 601_000
    const late = byProtocol(secret)
    await expect.poll(() => late.refused?.status).toBe(401)
  })

  it('opens no session with another model', async () => {
    await rig.addChannel(3, { type: 8, baseUrl: provider.url, models: ['dear-realtime'] })
    await rig.setOption('ModelRatio', { [MODEL]: 2.5, 'dear-realtime': 100 })
    const other = byProtocol(await secretFor(), 'dear-realtime')
    await expect.poll(() => other.refused?.status).toBe(400)
    expect(provider.sessions).toEqual([])
  })

  it('is no key for anything else', async () => {
    const secret = await secretFor()
    const { status } = await post('client_secrets', { session: SESSION }, secret)
    expect(status).toBe(401)
    const response = await fetch(`${rig.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(response.status).toBe(401)
  })

  it('ends with its token', async () => {
    const secret = await secretFor()
    const data = { userId: USER, tokenIds: [TOKEN] }
    await rig.append(tokensStream(USER), { type: 'TokensDeleted', v: 1, data })
    const client = byProtocol(secret)
    await expect.poll(() => client.refused?.status).toBe(401)
    expect(provider.sessions).toEqual([])
  })

  it('of the beta endpoint opens a session of the beta protocol', async () => {
    const { status, body } = await post('sessions', { model: MODEL, voice: 'alloy' })
    expect(status).toBe(200)
    const { client_secret: secret } = body as {
      readonly client_secret: { readonly value: string; readonly expires_at: number }
    }
    expect(secret.expires_at).toBe(Math.floor((now + 60_000) / 1_000))
    await byProtocol(secret.value).open()
    const [upstream] = provider.sessions
    expect(upstream?.request.headers['openai-beta']).toBe('realtime=v1')
    expect(upstream?.events[0]?.session).toMatchObject({ voice: 'alloy' })
  })

  it.each([
    [{ session: { type: 'realtime' } }, 'session.model'],
    [{ session: { type: 'transcription' } }, 'session.type'],
    [{ session: { ...SESSION, prompt: { id: 'a' } } }, 'session.prompt'],
    [{ session: { ...SESSION, model: 7 } }, 'session.model'],
    [{ session: SESSION, expires_after: { seconds: 9_000 } }, 'expires_after.seconds'],
    [{ session: SESSION, expires_after: 'never' }, 'expires_after.seconds'],
    [{ session: SESSION, expires_after: { seconds: { toString: 1 } } }, 'expires_after.seconds'],
    [{ session: SESSION, expires_after: { seconds: [600] } }, 'expires_after.seconds'],
    [{ session: SESSION, admin: true }, 'admin'],
    [{ session: { ...SESSION, instructions: 'x'.repeat(70_000) } }, 'session'],
  ])('is not created for %j', async (request, param) => {
    const { status, body } = await post('client_secrets', request)
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { param } })
    if (param.endsWith('seconds')) expect(JSON.stringify(body)).toContain('10–7200')
  })
})

describe('the other endpoints of the Realtime API', () => {
  it('say that sessions that only transcribe are not supported', async () => {
    const transcription = { model: 'gpt-4o-transcribe', language: 'en' }
    const session = { type: 'transcription', audio: { input: { transcription } } }
    for (const [path, request, param] of [
      ['client_secrets', { session }, 'session.type'],
      ['transcription_sessions', { input_audio_transcription: transcription }, null],
    ] as const) {
      const { status, body } = await post(path, request)
      expect(status, path).toBe(400)
      const code = 'transcription_sessions_not_supported'
      expect(body).toMatchObject({ error: { code, param } })
    }
    const client = new RealtimeClient(rig.url, MODEL, { query: '&intent=transcription' })
    await expect.poll(() => client.refused?.status).toBe(400)
    expect(client.refused?.body).toContain('only transcribe')
  })

  it('refuse calls over WebRTC and requests without a websocket', async () => {
    const type = { 'content-type': 'application/sdp' }
    for (const [path, headers] of [
      ['calls', {}],
      [`calls?model=${MODEL}`, type],
      ['calls/rtc_1/hangup', type],
    ] as const) {
      const calls = await post(path, { sdp: 'v=0' }, `sk-${KEY}`, headers)
      expect(calls, path).toEqual({
        status: 400,
        body: {
          error: {
            message: expect.stringContaining('GET /v1/realtime'),
            type: 'invalid_request_error',
            param: null,
            code: 'webrtc_not_supported',
          },
        },
      })
    }
    expect((await post('unknown', {})).status).toBe(404)
    const plain = await fetch(`${rig.url}/v1/realtime?model=${MODEL}`, {
      headers: { authorization: `Bearer sk-${KEY}` },
    })
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket'])
    expect(plain.headers.get('allow')).toBeNull()
  })
})
