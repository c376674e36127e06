import { connect } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { CircuitBreaker } from '#relay/channel-health/circuit-breaker.ts'
import { connectProxy } from '#test/support/connect-proxy.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { RealtimeClient } from '../support/realtime-client.ts'
import { CHARGE } from '../support/realtime-provider.ts'
import { bills, MODEL, openCalls, realtimeSite } from '../support/realtime-site.ts'
import { KEY, PROVIDER_KEY } from '../support/relay-rig.ts'

const proxy = startedOnce(connectProxy)
const { provider, rig } = realtimeSite({ deadlines: { connectMs: 300, writeStallMs: 1_000 } })

const replaceChannel = async (terms: Partial<ChannelTerms>) => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
  await rig.addChannel(3, { baseUrl: provider.url, models: [MODEL], ...terms })
}
const BETA = { authorization: `Bearer sk-${KEY}`, 'openai-beta': 'realtime=v1' }
const other = '2025-04-01-preview'

describe('the channels of a realtime session', () => {
  it.each([
    ['OpenAI', { type: 1 }, {}, `/v1/realtime?model=${MODEL}`],
    ['Azure', { type: 3, other }, {}, `/openai/v1/realtime?model=${MODEL}`],
    [
      'Azure, in the beta protocol',
      { type: 3, other },
      { headers: BETA },
      `/openai/realtime?api-version=${other}&deployment=${MODEL}`,
    ],
  ])('%s is called at its own address', async (_name, terms, options, path) => {
    await replaceChannel(terms)
    await new RealtimeClient(rig.url, MODEL, options).open()
    const request = provider.sessions[0]?.request
    expect(request?.url).toBe(path)
    const { 'api-key': ofAzure, authorization } = request?.headers ?? {}
    const key = terms.type === 3 ? ofAzure : authorization
    expect(key).toBe(terms.type === 3 ? PROVIDER_KEY : `Bearer ${PROVIDER_KEY}`)
  })

  it('a channel without the endpoint does not serve sessions, and the caller is told', async () => {
    await replaceChannel({ type: 43 })
    const client = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => client.refused?.status).toBe(404)
  })

  it('a session goes through the proxy of its channel', async () => {
    proxy.names.set('provider.invalid', Number(new URL(provider.url).port))
    const setting = JSON.stringify({ proxy: proxy.urlOf('u:p') })
    await replaceChannel({ type: 8, baseUrl: 'http://provider.invalid', setting })
    const client = await new RealtimeClient(rig.url, MODEL).open()
    expect(proxy.requests.at(-1)?.line).toBe('CONNECT provider.invalid:80')
    client.send({ type: 'response.create' })
    await client.event('response.done')
    expect(await bills(rig)).toMatchObject([{ charge: CHARGE, channelId: 3 }])
  })

  it.each([
    ['its own status', {}, 429, 429],
    ['the mapped status', { statusCodeMapping: '{"429":503}' }, 429, 503],
  ])("a provider's refusal has its words and %s", async (_name, terms, status, shown) => {
    await rig.setOption('channel_health.circuit_failures', '100')
    await rig.setOption('RetryTimes', '0')
    const modelMapping = JSON.stringify({ [MODEL]: 'gpt-realtime-planted' })
    await replaceChannel({ ...terms, modelMapping })
    provider.refuses = status
    const message = `gpt-realtime-planted has too many sessions with ${PROVIDER_KEY}`
    const error = { message, type: 'tokens', code: 'rate_limit_exceeded' }
    provider.refusal = JSON.stringify({ error })
    const refused = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => refused.refused?.status).toBe(shown)
    const { body } = refused.refused ?? {}
    expect(body).toMatch(/has too many sessions/)
    expect(body).not.toMatch(new RegExp(`gpt-realtime-planted|${PROVIDER_KEY}`))
    await rig.setOption('global.hide_upstream_error_enabled', 'true')
    const hidden = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => hidden.refused?.status).toBe(shown)
    expect(hidden.refused?.body).not.toContain('too many sessions')
  })

  it("a provider's refusal of the site's account is hidden from the caller", async () => {
    await rig.setOption('channel_health.circuit_failures', '100')
    await replaceChannel({})
    provider.refuses = 429
    provider.refusal = JSON.stringify({ error: { code: 'insufficient_quota', message: 'empty' } })
    const refused = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => refused.refused?.status).toBe(502)
    expect(refused.refused?.body).toContain('upstream_account')
    expect(refused.refused?.body).not.toContain('empty')
  })

  it('an unreadable refusal of a session does not take a permit of the channel', async () => {
    await rig.setOption('channel_health.circuit_failures', '100')
    await replaceChannel({ maxConcurrency: 1 })
    provider.refuses = 422
    provider.refusal = '{"detail":[{"loc":[{"toString":1}],"msg":"x"}]}'
    const refused = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => refused.refused?.status ?? 0).toBeGreaterThanOrEqual(400)
    provider.refuses = null
    await new RealtimeClient(rig.url, MODEL).open()
  })

  it('an exception while a session is opened does not take a permit of the channel', async () => {
    await replaceChannel({ maxConcurrency: 1 })
    const spy = vi.spyOn(CircuitBreaker.prototype, 'note').mockImplementationOnce(() => {
      throw new Error('a bug')
    })
    const refused = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => refused.refused?.status ?? 0).toBeGreaterThanOrEqual(500)
    expect(spy).toHaveBeenCalledOnce()
    spy.mockRestore()
    await new RealtimeClient(rig.url, MODEL).open()
  })

  it('a refused address is not called, and not shown', async () => {
    await replaceChannel({ type: 8, baseUrl: 'http://metadata.provider.invalid:81' })
    const client = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => client.refused?.status ?? 0).toBeGreaterThanOrEqual(500)
    expect(client.refused?.body).not.toContain('invalid:81')
  })
})

it('a request without the headers of a websocket leaves no connection open', async () => {
  const setting = JSON.stringify({})
  await replaceChannel({ type: 8, setting, maxConcurrency: 1 })
  for (let at = 0; at < 3; at += 1) {
    const { hostname, port } = new URL(rig.url)
    const headers = `authorization: Bearer sk-${KEY}\r\nconnection: upgrade\r\nupgrade: websocket`
    const socket = connect(Number(port), hostname)
    socket.write(`GET /v1/realtime?model=${MODEL} HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`)
    let answer = ''
    socket.on('data', (part: Buffer) => {
      answer += part
    })
    await expect.poll(() => answer).toContain('HTTP/1.1 400')
    await expect.poll(() => provider.sessions.at(-1)?.isClosed).toBe(true)
  }
  await new RealtimeClient(rig.url, MODEL).open()
})

describe('a realtime session with a slow side', () => {
  const MEGABYTE = 'x'.repeat(1024 * 1024)

  it('is not read on while the caller reads nothing, and ends after a while', async () => {
    const client = await new RealtimeClient(rig.url, MODEL).open()
    const [session] = provider.sessions
    client.socket.pause()
    const added = { type: 'conversation.item.added', item: { text: MEGABYTE } }
    for (let at = 0; at < 64; at += 1) session?.send(added)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(session?.socket.bufferedAmount).toBeGreaterThan(32 * 1024 * 1024)
    await expect.poll(() => session?.isClosed).toBe(true)
    expect(await openCalls(rig)).toBe(0)
  })

  it('the caller is not read on while a request waits', async () => {
    provider.onEvent = ({ type }) => type === 'response.create'
    const client = await new RealtimeClient(rig.url, MODEL).open()
    for (let at = 0; at < 2; at += 1) client.send({ type: 'response.create' })
    for (let at = 0; at < 64; at += 1) {
      client.send({ type: 'input_audio_buffer.append', audio: MEGABYTE })
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(client.socket.bufferedAmount).toBeGreaterThan(32 * 1024 * 1024)
    expect(provider.sessions[0]?.typesOf('input_audio')).toEqual([])
    client.socket.terminate()
    await expect.poll(() => openCalls(rig)).toBe(0)
  })
})
