import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig, TOKEN, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const PATH = 'POST /v1/audio/speech'
/** Billed by characters. */
const LETTERS = 'tts-test'
/** Billed by tokens of audio. */
const TOKENS = 'tokens-tts-test'

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [LETTERS, TOKENS] })
  await rig.setOption('ModelRatio', { [LETTERS]: 7.5, [TOKENS]: 0.3 })
  await rig.setOption('CompletionRatio', { [TOKENS]: 20 })
  await rig.setOption('AudioCompletionRatio', { [TOKENS]: 20 })
})

const speak = (body: Record<string, unknown> = {}, signal: AbortSignal | null = null) =>
  fetch(`${rig.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: LETTERS, input: 'Hällo 你好', voice: 'alloy', ...body }),
    signal,
  })

const audio = (bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 7) & 0xff))
const answerWith = (pieces: readonly Buffer[], more: object = {}): void => {
  provider.answers.set(PATH, { headers: { 'content-type': 'audio/mpeg' }, pieces, ...more })
}
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; param: string | null } }).error

describe('speech', () => {
  it('passes the audio unchanged with its type, and is billed by characters', async () => {
    const pieces = [audio(10), audio(3_000), audio(1), audio(70_000)]
    answerWith(pieces)
    const response = await speak()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    const got = Buffer.from(await response.arrayBuffer())
    expect(got.equals(Buffer.concat([...pieces]))).toBe(true)
    const end = await onlyEnd(rig)
    expect(end).toMatchObject({
      type: 'CallSettled',
      data: { charge: 60, usage: { inputUncached: 8, characters: 8, output: 0 }, end: 'done' },
    })
  })

  it.each([
    ['FunAudioLLM/CosyVoice2-0.5B', 13],
    ['fishaudio/fish-speech-1.5', 13],
    ['cosyvoice-v2', 8],
  ])('of %s is billed by its bytes if the model is sold like this', async (model, units) => {
    await rig.addChannel(3, { type: 40, baseUrl: provider.url, models: [model] })
    await rig.setOption('ModelRatio', { [model]: 10 })
    answerWith([audio(10)])
    await (await speak({ model })).arrayBuffer()
    expect(await onlyEnd(rig)).toMatchObject({
      data: { charge: 10 * units, hold: 10 * units, usage: { characters: units } },
    })
  })

  it.each([
    ['FunAudioLLM/CosyVoice2-0.5B', 'own-name', 13],
    ['own-name', 'FunAudioLLM/CosyVoice2-0.5B', 8],
  ])('of %s, which a channel changes and maps, is billed by its own name', async (...row) => {
    const [model, mapped, units] = row
    await rig.addChannel(3, {
      ...{ type: 40, baseUrl: provider.url, models: [model] },
      modelMapping: JSON.stringify({ [model]: mapped }),
      paramOverride: JSON.stringify({ voice: 'alex' }),
    })
    await rig.setOption('ModelRatio', { [model]: 10 })
    answerWith([audio(10)])
    await (await speak({ model })).arrayBuffer()
    expect(await onlyEnd(rig)).toMatchObject({
      data: { charge: 10 * units, hold: 10 * units, usage: { characters: units } },
    })
  })

  it.each([
    // A character costs 7.5.
    [LETTERS, 60],
    // At most six tokens for each byte of the request, and 1 000.
    [TOKENS, 5_000],
  ])('holds the worst case of %s', async (model, least) => {
    answerWith([audio(10)])
    await (await speak({ model })).arrayBuffer()
    const [admitted] = await rig.callEvents()
    if (admitted?.type !== 'CallAdmitted') throw new Error('no call was admitted')
    const { hold } = admitted.data
    expect(hold).toBeGreaterThanOrEqual(least)
    expect(hold).toBeLessThan(least * 3)
  })

  it('ends audio that is far longer than its text allows', async () => {
    // 270 seconds of 48 000 bytes, for two letters.
    answerWith(Array.from({ length: 13 }, () => Buffer.alloc(1_000_000)))
    await expect(
      speak({ model: TOKENS, input: 'hi' }).then((response) => response.arrayBuffer()),
    ).rejects.toThrow()
    await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallSettled')
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'incomplete', usageSource: 'partial' })
  })

  it('sends the request unchanged, with the name of the model at the provider', async () => {
    answerWith([audio(10)])
    await (await speak({ speed: 1.5, response_format: 'wav', extra: [1] })).arrayBuffer()
    const [request] = provider.requests
    expect(request?.path).toBe('/v1/audio/speech')
    expect(JSON.parse(request?.body ?? '')).toEqual({
      ...{ model: LETTERS, input: 'Hällo 你好', voice: 'alloy' },
      ...{ speed: 1.5, response_format: 'wav', extra: [1] },
    })
  })

  it.each([
    ['short', [audio(10)]],
    ['long', [audio(70_000), audio(70_000)]],
  ])('sends the end of %s audio only once the bill is durable', async (_length, pieces) => {
    answerWith(pieces)
    const seen: string[] = []
    const append = rig.core.store.append.bind(rig.core.store)
    rig.core.store.append = async (writes) => {
      const text = JSON.stringify(writes, (_, value) => (typeof value === 'bigint' ? '' : value))
      if (!text.includes('CallSettled')) return append(writes)
      await new Promise((resume) => setTimeout(resume, 50))
      seen.push('settled')
      return append(writes)
    }
    let left = pieces.reduce((sum, piece) => sum + piece.length, 0)
    for await (const bytes of (await speak()).body as unknown as AsyncIterable<Uint8Array>) {
      left -= bytes.length
      seen.push(left === 0 ? 'end' : 'audio')
    }
    expect(seen.slice(-2)).toEqual(['settled', 'end'])
  })

  it('closes the connection if the bill of begun audio can not be written', async () => {
    answerWith([audio(70_000), audio(70_000)])
    const append = rig.core.store.append.bind(rig.core.store)
    rig.core.store.append = async (writes) => {
      const text = JSON.stringify(writes, (_, value) => (typeof value === 'bigint' ? '' : value))
      if (text.includes('CallSettled')) throw new Error('the store is broken')
      return append(writes)
    }
    await expect(speak().then((response) => response.arrayBuffer())).rejects.toThrow()
    answerWith([audio(10)])
    expect((await speak()).status).toBe(503)
  })

  it('is billed by the tokens of the audio if the price has a ratio for audio', async () => {
    // One second of 16-bit samples at 24 kHz.
    answerWith([audio(24_000), audio(24_000)])
    await (await speak({ model: TOKENS })).arrayBuffer()
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ usage: { output: 21, outputAudio: 21 }, usageSource: 'estimated' })
  })

  it('passes events with audio, and is billed by their usage', async () => {
    const delta = { type: 'speech.audio.delta', audio: audio(100).toString('base64') }
    const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 }
    const events = [delta, { type: 'speech.audio.done', usage }]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('')
    answerWith([Buffer.from(events)], { headers: { 'content-type': 'text/event-stream' } })
    const response = await speak({ model: TOKENS, stream_format: 'sse' })
    expect(await response.text()).toBe(events)
    expect((await onlyEnd(rig)).data).toMatchObject({
      usage: { inputUncached: 14, output: 101, outputAudio: 101 },
      usageSource: 'upstream',
    })
  })

  it.each([1, 8])('in a stream reaches a channel of type %d as it was sent', async (type) => {
    const model = 'own-voice'
    await rig.addChannel(3, { type, baseUrl: provider.url, models: [model] })
    await rig.setOption('ModelRatio', { [model]: 1 })
    answerWith([Buffer.from('data: {}\n\n')], { headers: { 'content-type': 'text/event-stream' } })
    const asked = { model, input: 'hi', voice: 'alloy', stream_format: 'sse' }
    await (await speak(asked)).text()
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual(asked)
  })

  it('ends once and is billed if the provider is cut in the middle', async () => {
    answerWith([audio(48_000), audio(10)], { keepsOpen: true })
    const response = await speak({ model: TOKENS })
    const reader = response.body?.getReader()
    await reader?.read()
    await provider.close()
    await expect(
      (async () => {
        for (;;) if ((await reader?.read())?.done) return
      })(),
    ).rejects.toThrow()
    await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallSettled')
    expect((await onlyEnd(rig)).data).toMatchObject({
      usage: { outputAudio: 21 },
      ...{ usageSource: 'partial', end: 'incomplete' },
    })
  })

  it('is billed for the delivered audio if the caller leaves', async () => {
    answerWith([audio(48_000)], { keepsOpen: true })
    const abort = new AbortController()
    const response = await speak({ model: TOKENS }, abort.signal)
    await response.body?.getReader().read()
    abort.abort()
    await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallSettled')
    expect((await onlyEnd(rig)).data).toMatchObject({
      usage: { outputAudio: 21 },
      ...{ usageSource: 'partial', end: 'client-gone' },
    })
  })

  it.each([LETTERS, 'gpt-5-audio'])('of %s ends if its caller loses access', async (model) => {
    await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: ['gpt-5-audio'] })
    await rig.setOption('ModelRatio', { [LETTERS]: 7.5, 'gpt-5-audio': 7.5 })
    answerWith([audio(48_000)], { keepsOpen: true })
    const response = await speak({ model })
    const disabled = { userId: USER, tokenIds: [TOKEN] }
    await rig.append(tokensStream(USER), { type: 'TokensDisabled', v: 1, data: disabled })
    await expect(response.arrayBuffer()).rejects.toThrow()
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'incomplete', charge: 60 })
  })

  it('is not an answer if it is empty, or has another type than audio', async () => {
    answerWith([])
    expect((await speak()).status).toBe(502)
    answerWith([Buffer.from('{"ok":true}')], { headers: { 'content-type': 'application/json' } })
    expect((await speak()).status).toBe(502)
    const ends = (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted')
    expect(ends.map(({ type }) => type)).toEqual(['CallReleased', 'CallReleased'])
    expect(await rig.balance()).toBe(1_000_000_000n)
  })

  it('passes the error of the provider', async () => {
    const error = { message: 'no such voice', type: 'invalid_request_error', param: 'voice' }
    provider.answers.set(PATH, { status: 400, body: { error } })
    const response = await speak()
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ message: 'no such voice' })
  })

  it.each([
    ['input', { input: undefined }],
    ['input', { input: '' }],
    ['input', { input: 5 }],
    ['input', { input: 'x'.repeat(100_001) }],
    ['model', { model: 5 }],
    ['speed', { speed: 0 }],
    ['speed', { speed: 'fast' }],
    ['response_format', { response_format: {} }],
    ['stream_format', { stream_format: 1 }],
    ['Text', { Text: 'a much longer text' }],
  ])('names the wrong field %s', async (param, body) => {
    const response = await speak(body)
    expect(response.status).toBe(400)
    expect((await errorOf(response)).param).toBe(param)
    expect(await rig.callEvents()).toEqual([])
  })

  it('works with the official client', async () => {
    answerWith([audio(5_000)])
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1` })
    const speech = { model: LETTERS, input: 'Hello', voice: 'alloy' } as const
    const response = await client.audio.speech.create(speech)
    expect(Buffer.from(await response.arrayBuffer()).equals(audio(5_000))).toBe(true)
  })
})
