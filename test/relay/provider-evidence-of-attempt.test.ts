import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { CHANNELS_STREAM, type ChannelsCreated } from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { hostHashOf } from '#infra/vault/host-hash.ts'
import { AttemptEvidence, withAnswer } from '#relay/pipeline/provider-evidence-of-attempt.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => relayRig({ deadlines: { readOnPlainMs: 300 } }))

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')
const PATH = 'POST /v1/chat/completions'
const USAGE = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9, oddity: { a: 1 } }
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [
    { index: 0, message: { role: 'assistant', content: '"id":"x"' }, finish_reason: 'stop' },
  ],
  usage: USAGE,
  service_tier: 'default',
  system_fingerprint: 'fp_44709d6fcb',
}

const addChannel = (channelId: number) =>
  rig.addChannel(channelId, { baseUrl: provider.url, models: ['gpt-4o-mini'] })
const hostHash = () => hostHashOf(rig.core.vault, new URL(provider.url).host)
const call = (fields: object = {}) => chat(rig, { model: 'gpt-4o-mini', ...fields })

describe('the evidence of an attempt', () => {
  it('has digests of the bytes in both directions and the identifiers of the answer', async () => {
    await addChannel(7)
    const headers = { 'x-request-id': 'req_of-the-provider' }
    provider.answers.set(PATH, { headers, body: ANSWER })
    const { status } = await call()
    expect(status).toBe(200)
    const [attempt] = (await onlyEnd(rig)).data.attempts
    const text = JSON.stringify(ANSWER)
    const [request] = provider.requests
    const sent = request?.body ?? ''
    expect(attempt?.evidence).toEqual({
      sentAt: expect.any(Number),
      hostHash: hostHash(),
      sent: { bytes: Buffer.byteLength(sent), sha256: sha256(sent) },
      received: { bytes: Buffer.byteLength(text), sha256: sha256(text) },
      requestId: 'req_of-the-provider',
      model: 'gpt-4o-mini',
      fingerprint: {
        id: 'chatcmpl-1',
        service_tier: 'default',
        system_fingerprint: 'fp_44709d6fcb',
      },
      usage: JSON.stringify(USAGE),
    })
    expect(Math.abs((attempt?.evidence?.sentAt ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  it('covers a stream however it is split, and each failed attempt apart', async () => {
    await addChannel(7)
    const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
    const chunk = { id: 'c-1', model: 'gpt-4o-mini', system_fingerprint: 'fp_1' }
    const text = [
      event({ ...chunk, choices: [{ index: 0, delta: { content: 'Hello' } }] }),
      event({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      event({ ...chunk, choices: [], usage: USAGE }),
      'data: [DONE]\n\n',
    ].join('')
    const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
    provider.answers.set(PATH, { headers: { 'content-type': 'text/event-stream' }, pieces })
    const { status } = await call({ stream: true })
    expect(status).toBe(200)
    const [attempt] = (await onlyEnd(rig)).data.attempts
    const { received, usage } = attempt?.evidence ?? {}
    expect(received?.bytes).toBeGreaterThan(text.length - 4)
    expect(received?.sha256).toBe(sha256(text.slice(0, received?.bytes)))
    expect(usage).toBe(JSON.stringify(USAGE))
  })

  it('is recorded for an error, without the key, even if the provider echoes it', async () => {
    await addChannel(7)
    const headers = { 'x-request-id': 'sk-provider-secret-0123456789' }
    const body = { id: 'sk-provider-secret-0123456789', error: { message: 'no' } }
    provider.answers.set(PATH, { status: 400, headers, body })
    await call()
    const [attempt] = (await onlyEnd(rig)).data.attempts
    expect(attempt?.evidence).toEqual({
      sentAt: expect.any(Number),
      hostHash: hostHash(),
      sent: expect.any(Object),
      received: { bytes: JSON.stringify(body).length, sha256: sha256(JSON.stringify(body)) },
    })
  })

  it('names the host to which the call was sent, although the channel has a new one', async () => {
    await addChannel(7)
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>()
    provider.answers.set(PATH, { body: ANSWER, until: isFree })
    const answer = call()
    await expect.poll(() => provider.requests.length).toBe(1)
    const created = (await rig.eventsOf(CHANNELS_STREAM)).at(-1) as Recorded<ChannelsCreated>
    await rig.append(CHANNELS_STREAM, {
      ...{ type: 'ChannelTermsChanged', v: 1 },
      data: {
        ...{ channelId: 7, keyRefs: ['ref-7'], keyMode: '', droppedKeyRefs: [] },
        terms: { ...created.data.terms, baseUrl: 'http://127.0.0.1:1' },
      },
    })
    free()
    expect((await answer).status).toBe(200)
    const [attempt] = (await onlyEnd(rig)).data.attempts
    expect(attempt?.evidence?.hostHash).toBe(hostHash())
  })

  it('is missing for an attempt without an answer, except for what was sent', async () => {
    await rig.addChannel(7, { baseUrl: 'http://127.0.0.1:1', models: ['gpt-4o-mini'] })
    await call()
    const [attempt] = (await onlyEnd(rig)).data.attempts
    expect(Object.keys(attempt?.evidence ?? {})).toEqual(['sentAt', 'hostHash', 'sent'])
  })
})

describe('evidence in an event is bounded', () => {
  const received = (body: string, headers = {}) => {
    const evidence = new AttemptEvidence()
    evidence.noteHeaders(headers)
    evidence.noteReceived(Buffer.from(body))
    return evidence.finish(0, ['api.example.com', 'secret-account'])
  }

  it('long, odd and confidential identifiers are left out', () => {
    const long = 'x'.repeat(129)
    expect(received(`{"id":"${long}"}`, { 'x-request-id': long })).not.toHaveProperty('requestId')
    expect(received('{"id":"a b","system_fingerprint":"API.example.com:1"}')).not.toHaveProperty(
      'fingerprint',
    )
    expect(received('{}', { 'x-request-id': 'r-SECRET-account' })).not.toHaveProperty('requestId')
  })

  it('a usage report is cut, and one with a long or confidential text is left out', () => {
    const of = (usage: unknown) =>
      withAnswer({ sentAt: 0 }, { model: 7, usage }, ['secret-account'])
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`count_${n}`, n]))
    expect(of(many).usage).toHaveLength(2_048)
    expect(of({ note: 'y'.repeat(100) })).toEqual({ sentAt: 0 })
    expect(of({ note: 'secret-account' })).toEqual({ sentAt: 0 })
    expect(of('text')).toEqual({ sentAt: 0 })
  })

  it('a body of several slices has the digest of the whole', async () => {
    const body = Buffer.alloc(1_000_003, 'abc')
    const evidence = new AttemptEvidence()
    evidence.noteSent(body)
    await evidence.awaitSentDigest()
    const { sent } = evidence.finish(0, [])
    expect(sent).toEqual({ bytes: body.length, sha256: sha256(body) })
  })
})
