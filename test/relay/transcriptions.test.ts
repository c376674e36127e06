import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'
import { wav } from './support/wav-file.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const PATH = 'POST /v1/audio/transcriptions'
/** Billed by seconds, at $6 per million tokens: $0.006 per minute. */
const SECONDS = 'seconds-test'
/** Billed by tokens of audio. */
const TOKENS = 'tokens-test'

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: [SECONDS, TOKENS] })
  await rig.setOption('ModelRatio', { [SECONDS]: 3, [TOKENS]: 1.25 })
  await rig.setOption('CompletionRatio', { [TOKENS]: 4 })
  await rig.setOption('AudioRatio', { [TOKENS]: 2.4 })
  provider.answers.set(PATH, { body: ANSWER })
})

const ANSWER = { text: 'hello there', usage: { type: 'duration', seconds: 12 } }
const file = (seconds = 12, declared?: number): File =>
  new File([new Uint8Array(wav(seconds, 8_000, declared))], 'talk.wav', { type: 'audio/wav' })

type Fields = Readonly<Record<string, string | File | readonly string[]>>

function formOf(fields: Fields): FormData {
  const form = new FormData()
  const all: Fields = { file: file(), model: SECONDS, ...fields }
  for (const [name, value] of Object.entries(all)) {
    if (typeof value === 'string' || value instanceof File) form.append(name, value)
    else for (const one of value) form.append(name, one)
  }
  return form
}

const transcribe = (
  fields: Fields = {},
  headers: Record<string, string> = {},
  path = '/v1/audio/transcriptions',
) =>
  fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, ...headers },
    body: formOf(fields),
  })

const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; param: string | null } }).error

describe('a transcription', () => {
  it('sends the file and the fields, and is billed by the reported duration', async () => {
    const response = await transcribe({
      ...{ temperature: '0.2', language: 'en', 'timestamp_granularities[]': ['word', 'segment'] },
    })
    expect([response.status, await response.json()]).toEqual([200, ANSWER])
    const [request] = provider.requests
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(request?.headers['content-length']).toMatch(/^\d+$/)
    for (const text of ['name="model"\r\n\r\nseconds-test', 'name="temperature"\r\n\r\n0.2']) {
      expect(request?.body).toContain(text)
    }
    expect(request?.body.match(/name="timestamp_granularities\[\]"/g)).toHaveLength(2)
    expect(request?.body).toContain('filename="talk.wav"\r\nContent-Type: audio/wav')
    // 12 seconds are 200 tokens of $6 per million.
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: 600,
      usage: { inputUncached: 200, seconds: 12, output: 0 },
      ...{ usageSource: 'upstream', end: 'done' },
    })
  })

  it('applies the mapping of the model and the overrides of the channel', async () => {
    const overrides = { param_override: JSON.stringify({ temperature: 0, prompt: null }) }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, {
      ...{ type: 1, baseUrl: provider.url, models: [SECONDS] },
      ...{ modelMapping: JSON.stringify({ [SECONDS]: 'whisper-large' }) },
      ...{ paramOverride: overrides.param_override },
    })
    expect((await transcribe({ prompt: 'a "quoted" prompt' })).status).toBe(200)
    expect(provider.requests[0]?.body).toContain('name="model"\r\n\r\nwhisper-large')
    expect(provider.requests[0]?.body).toContain('name="file"; filename="talk.wav"')
  })

  it('is billed by tokens with the audio in them', async () => {
    const usage = {
      ...{ type: 'tokens', input_tokens: 130, output_tokens: 20, total_tokens: 150 },
      input_token_details: { text_tokens: 10, audio_tokens: 120 },
    }
    provider.answers.set(PATH, { body: { text: 'hello', usage } })
    await transcribe({ model: TOKENS })
    expect((await onlyEnd(rig)).data).toMatchObject({
      // (10 + 120 · 2.4 + 20 · 4) · 1.25
      charge: 473,
      usage: { inputUncached: 10, inputAudio: 120, output: 20 },
    })
  })

  it.each([
    ['text', 'hello there\n', 'text/plain'],
    ['srt', '1\n00:00:00,000 --> 00:00:05,000\nhello\n', 'application/x-subrip'],
    ['vtt', 'WEBVTT\n\n00:00.000 --> 00:05.000\nhello\n', 'text/vtt'],
  ])('passes an answer as %s, and is billed by the duration of its file', async (format, body) => {
    provider.answers.set(PATH, { headers: { 'content-type': 'text/plain' }, body })
    const response = await transcribe({ response_format: format })
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe(body)
    expect((await onlyEnd(rig)).data).toMatchObject({
      ...{ charge: 600, usage: { seconds: 12 }, usageSource: 'estimated' },
    })
  })

  it.each([
    ['a header that declares less data', {}, file(12, 10), 'text', 600],
    ['later subtitles', '1\n00:00:00,000 --> 00:01:00,000\nhello\n', file(1), 'srt', 3_000],
    [
      'a longer duration in the answer',
      { text: 'a', duration: 60 },
      file(1),
      'verbose_json',
      3_000,
    ],
    ['a transcript that takes longer to say', 'a word '.repeat(600), file(1), 'text', 5_000],
  ])('does not become cheaper by %s', async (_lie, body, upload, format, least) => {
    const isObject = typeof body === 'object' && Object.keys(body).length > 0
    provider.answers.set(PATH, { body: typeof body === 'string' || isObject ? body : 'hello' })
    await transcribe({ file: upload, response_format: format })
    const { data } = await onlyEnd(rig)
    expect((data as { charge: number }).charge).toBeGreaterThanOrEqual(least)
  })

  it('is billed by the duration in the answer, even if the file seems longer', async () => {
    const unknown = new File([new Uint8Array(120_000)], 'talk.xyz', { type: 'audio/xyz' })
    provider.answers.set(PATH, { body: { text: 'a', words: [{ duration: 50 }], duration: '6.0' } })
    await transcribe({ file: unknown, response_format: 'verbose_json' })
    expect((await onlyEnd(rig)).data).toMatchObject({
      ...{ charge: 300, usage: { seconds: 6 }, usageSource: 'upstream', anomaly: null },
    })
  })

  it.each([
    [{ text: 'a', duration: 0.001 }],
    [{ text: 'a', usage: { type: 'duration', seconds: 0 } }],
    [{ text: 'a', usage: { type: 'duration', seconds: -5 } }],
    [{ text: 'a', usage: { type: 'duration', seconds: '12' } }],
  ])('is billed by its file if the answer states an impossible duration: %j', async (body) => {
    provider.answers.set(PATH, { body })
    await transcribe({ response_format: 'verbose_json' })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: 600, usage: { seconds: 12 } })
  })

  it('is billed for its text at a price of audio, although the answer states seconds', async () => {
    const usage = { type: 'duration', seconds: 12 }
    provider.answers.set(PATH, { body: { text: 'hello there, all of you', usage } })
    await transcribe({ model: TOKENS })
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ usage: { inputAudio: 120, seconds: 12 } })
    expect((data as { usage: { output: number } }).usage.output).toBeGreaterThan(0)
  })

  it('is billed for audio at its price if subtitles tell of less than the file', async () => {
    const body = '1\n00:00:00,000 --> 00:00:05,000\nhello\n'
    provider.answers.set(PATH, { headers: { 'content-type': 'text/plain' }, body })
    await transcribe({ model: TOKENS, response_format: 'srt' })
    expect((await onlyEnd(rig)).data).toMatchObject({ usage: { inputAudio: 120, seconds: 12 } })
  })

  it('passes a stream of events, and is billed by the usage in the last one', async () => {
    const usage = { type: 'tokens', input_tokens: 120, output_tokens: 2, total_tokens: 122 }
    const events = [
      { type: 'transcript.text.delta', delta: 'hello ' },
      { type: 'transcript.text.delta', delta: 'there' },
      { type: 'transcript.text.done', text: 'hello there', usage },
    ].map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
    provider.answers.set(PATH, { headers: { 'content-type': 'text/event-stream' }, pieces: events })
    const response = await transcribe({ model: TOKENS, stream: 'true' })
    expect(await response.text()).toBe(Buffer.concat(events).toString())
    expect(provider.requests[0]?.body).toContain('name="stream"\r\n\r\ntrue')
    const names = provider.requests[0]?.body.match(/(?<= name=")[^"]+/g)
    expect(names?.toSorted()).toEqual(['file', 'model', 'stream'])
    expect((await onlyEnd(rig)).data).toMatchObject({
      ...{ usage: { inputAudio: 120, output: 2 }, usageSource: 'upstream', end: 'done' },
    })
  })

  it('is billed by the file and the delivered text if its stream is cut', async () => {
    const delta = { type: 'transcript.text.delta', delta: 'hello there' }
    const pieces = [Buffer.from(`data: ${JSON.stringify(delta)}\n\n`)]
    provider.answers.set(PATH, { headers: { 'content-type': 'text/event-stream' }, pieces })
    await (await transcribe({ model: TOKENS, stream: 'true' })).text()
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ usage: { inputAudio: 120, seconds: 12 }, end: 'incomplete' })
    expect((data as { usage: { output: number } }).usage.output).toBeGreaterThan(0)
  })

  it('is sent again to another channel, with the whole file', async () => {
    await rig.addChannel(3, { type: 8, baseUrl: `${provider.url}/other`, models: [SECONDS] })
    await rig.setOption('RetryTimes', '1')
    provider.answers.set(PATH, { status: 500, body: { error: { message: 'down' } } })
    provider.answers.set('POST /other/v1/audio/transcriptions', { body: ANSWER })
    const answers = [await transcribe(), await transcribe(), await transcribe()]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const { body } of provider.requests) expect(body).toContain('RIFF')
  })

  it('bills the same form with the same Idempotency-Key once', async () => {
    const headers = { 'idempotency-key': 'once' }
    expect((await transcribe({}, headers)).status).toBe(200)
    expect((await transcribe({}, headers)).status).toBe(409)
    expect((await transcribe({ file: file(11) }, headers)).status).toBe(422)
    expect(provider.requests).toHaveLength(1)
    await onlyEnd(rig)
  })

  it.each([
    ['file', { file: 'a text' }],
    ['file', { file: new File([], 'a.wav') }],
    ['model', { model: [SECONDS, TOKENS] }],
    ['model', { model: new File(['x'], 'model') }],
    ['temperature', { temperature: 'warm' }],
    ['stream', { stream: 'maybe' }],
    ['stream[]', { 'stream[]': 'true' }],
    ['file_url', { file_url: 'https://example.com/long.mp3' }],
    ['URL', { URL: 'https://example.com/long.mp3' }],
  ])('names the wrong field %s', async (param, fields) => {
    const response = await transcribe(fields as Fields)
    expect(response.status).toBe(400)
    expect((await errorOf(response)).param).toBe(param)
    expect(await rig.callEvents()).toEqual([])
  })

  it('passes a refusal that the provider sends before it has read the file', async () => {
    const eager = await serve((request, response) => {
      request.on('error', () => {})
      response.writeHead(413, { 'content-type': 'application/json', connection: 'close' })
      response.end('{"error":{"message":"the file is too long"}}')
    })
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 8, baseUrl: eager.url, models: [SECONDS] })
    const response = await transcribe({ file: file(600) })
    expect([413, 502]).toContain(response.status)
    await response.text()
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallReleased' })
    await eager.close()
  })

  it('is sent to another channel after such a refusal, with the whole file', async () => {
    const eager = await serve((request, response) => {
      request.resume()
      response.writeHead(429, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"slow down"}}')
    })
    await rig.setOption('RetryTimes', '1')
    await rig.addChannel(3, { type: 8, baseUrl: eager.url, models: [SECONDS], priority: 9 })
    const response = await transcribe({ file: file(600) })
    expect([response.status, await response.json()]).toEqual([200, ANSWER])
    expect(provider.requests[0]?.body).toHaveLength(
      Number(provider.requests[0]?.headers['content-length']),
    )
    await eager.close()
  })

  it('is billed if the caller leaves while the provider works', async () => {
    let answer = (): void => {}
    const until = new Promise<void>((resolve) => {
      answer = resolve
    })
    provider.answers.set(PATH, { until, body: ANSWER })
    const abort = new AbortController()
    const call = fetch(`${rig.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}` },
      body: formOf({}),
      signal: abort.signal,
    }).catch(() => {})
    await expect.poll(() => provider.requests.length).toBe(1)
    abort.abort()
    await call
    await new Promise((resume) => setTimeout(resume, 50))
    answer()
    await expect.poll(async () => (await rig.callEvents()).at(-1)?.type).toBe('CallSettled')
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: 600, end: 'client-gone' })
  })

  it('refuses a JSON body, which could name the files of another call', async () => {
    const response = await fetch(`${rig.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: SECONDS, file: { file: '0', bytes: 5, seconds: 1 } }),
    })
    expect(response.status).toBe(415)
    expect((await errorOf(response)).code).toBe('form_expected')
  })

  it('refuses a caller who cannot pay for the audio', async () => {
    await rig.addUser(8)
    await rig.addToken(9, 8, 'z'.repeat(48))
    await rig.grant(8, 100n)
    const headers = { authorization: `Bearer sk-${'z'.repeat(48)}` }
    expect((await transcribe({}, headers)).status).toBe(402)
    expect(provider.requests).toEqual([])
  })
})

describe('the official client', () => {
  const client = () => new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1` })

  it('transcribes a file', async () => {
    const upload = await toFile(wav(12), 'talk.wav', { type: 'audio/wav' })
    const { text } = await client().audio.transcriptions.create({ file: upload, model: SECONDS })
    expect(text).toBe('hello there')
  })

  it('reads a streamed transcription', async () => {
    const usage = { type: 'tokens', input_tokens: 120, output_tokens: 2, total_tokens: 122 }
    const events = [
      { type: 'transcript.text.delta', delta: 'hello' },
      { type: 'transcript.text.done', text: 'hello', usage },
    ].map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
    provider.answers.set(PATH, { headers: { 'content-type': 'text/event-stream' }, pieces: events })
    const upload = await toFile(wav(12), 'talk.wav')
    const request = { file: upload, model: TOKENS, stream: true } as const
    const types: string[] = []
    for await (const { type } of await client().audio.transcriptions.create(request)) {
      types.push(type)
    }
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done'])
  })

  it('translates a file', async () => {
    provider.answers.set('POST /v1/audio/translations', { body: { text: 'good day' } })
    const upload = await toFile(wav(6), 'talk.wav')
    const { text } = await client().audio.translations.create({ file: upload, model: SECONDS })
    expect(text).toBe('good day')
    expect((await onlyEnd(rig)).data).toMatchObject({ usage: { seconds: 6 }, charge: 300 })
  })
})
