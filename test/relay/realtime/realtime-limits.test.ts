import { beforeEach, describe, expect, it } from 'vitest'
import { RealtimeClient } from '../support/realtime-client.ts'
import { type ProviderSession, USAGE } from '../support/realtime-provider.ts'
import {
  AUDIO,
  bills,
  MODEL,
  openCalls,
  realtimeSite,
  sessionWithoutSpeech,
  TRANSCRIBER,
} from '../support/realtime-site.ts'

const { provider, rig, session } = realtimeSite()

beforeEach(async () => {
  await rig.setOption('RateLimitsByModel', { [MODEL]: { calls: 1 }, [TRANSCRIBER]: { calls: 1 } })
})

describe('a limit of a model at realtime sessions', () => {
  it('counts each response, refuses further ones with an error, and keeps the socket', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.done')
    client.send({ type: 'response.create', event_id: 'second' })
    const { error } = await client.event('error')
    expect(error).toMatchObject({ code: 'rate_limited', event_id: 'second' })
    await rig.setOption('RateLimitsByModel', {})
    client.send({ type: 'response.create' })
    await client.event('response.done')
    expect(session().typesOf('response.create')).toHaveLength(2)
    expect(await bills(rig)).toHaveLength(2)
    expect(client.closed).toBe(null)
  })

  it('counts a response as a success that the caller cancels before its end', async () => {
    await rig.setOption('RateLimitsByModel', { [MODEL]: { successes: 1 } })
    provider.onEvent = ({ type }, at) => {
      if (type === 'response.create') at.delta(at.begin(), 'Hello there.')
      if (type === 'response.cancel') at.done('resp_1', provider.usage, 'cancelled')
      return type.startsWith('response.')
    }
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.output_text.delta')
    client.send({ type: 'response.cancel' })
    await client.event('response.done')
    client.send({ type: 'response.create' })
    expect((await client.event('error')).error).toMatchObject({ code: 'rate_limited' })
    expect(await bills(rig)).toHaveLength(1)
  })

  it('counts responses of fifty sessions at once', async () => {
    await rig.setOption('RateLimitsByModel', { [MODEL]: { calls: 7 } })
    const clients = await Promise.all(
      Array.from({ length: 10 }, () => sessionWithoutSpeech(rig.url)),
    )
    for (let request = 0; request < 5; request += 1) {
      for (const client of clients) client.send({ type: 'response.create' })
    }
    const count = (type: string) =>
      clients.flatMap(({ events }) => events).filter((event) => event.type === type).length
    await expect.poll(() => count('error') + count('response.done')).toBe(50)
    expect([count('response.done'), count('error')]).toEqual([7, 43])
    await expect.poll(async () => (await bills(rig)).length).toBe(7)
  })

  it('refuses speech that could begin a response, and sends none of it', async () => {
    const client = await new RealtimeClient(rig.url, MODEL).open()
    client.send(AUDIO)
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
    session().respond(provider.usage)
    await client.event('response.done')
    client.send(AUDIO)
    expect((await client.event('error')).error).toMatchObject({ code: 'rate_limited' })
    expect(session().typesOf('input_audio')).toHaveLength(1)
    expect(client.closed).toBe(null)
  })

  it('cancels a response that the provider begins by itself, and charges it', async () => {
    const client = await new RealtimeClient(rig.url, MODEL).open()
    client.send(AUDIO)
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
    session().respond(provider.usage)
    await client.event('response.done')
    const id = session().begin()
    expect((await client.event('error')).error).toMatchObject({ code: 'rate_limited' })
    await expect.poll(() => session().typesOf('response.cancel')).toHaveLength(1)
    session().done(id, provider.usage, 'cancelled')
    await client.event('response.done')
    expect((await bills(rig)).map(({ end }) => end)).toEqual(['done', 'incomplete'])
    expect(await openCalls(rig)).toBe(0)
    expect(client.closed).toBe(null)
  })

  it('applies to the model of transcriptions as well', async () => {
    await rig.setOption('RateLimitsByModel', { [TRANSCRIBER]: { calls: 1 } })
    const client = await sessionWithoutSpeech(rig.url)
    const input = { transcription: { model: TRANSCRIBER }, turn_detection: null }
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input } } })
    await client.event('session.updated')
    client.send(AUDIO)
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
    const item = { item_id: 'item_1' }
    session().send({ type: 'input_audio_buffer.committed', ...item })
    const type = 'conversation.item.input_audio_transcription.completed'
    session().send({ type, ...item, content_index: 0, transcript: 'Hi.' })
    await client.event(type)
    await expect.poll(async () => (await bills(rig)).length).toBe(1)
    client.send(AUDIO)
    expect((await client.event('error')).error).toMatchObject({ code: 'rate_limited' })
    expect(session().typesOf('input_audio')).toHaveLength(1)
    expect(client.closed).toBe(null)
  })

  it('charges all audio that the provider has, at the model that it was sent to', async () => {
    await rig.setOption('RateLimitsByModel', { [TRANSCRIBER]: { calls: 1 } })
    const client = await sessionWithoutSpeech(rig.url)
    const update = (transcription: object | null) => {
      const input = { transcription, turn_detection: null }
      client.send({ type: 'session.update', session: { type: 'realtime', audio: { input } } })
    }
    update({ model: TRANSCRIBER })
    await client.event('session.updated')
    for (const item_id of ['item_1', 'item_2']) {
      client.send(AUDIO)
      const count = item_id === 'item_1' ? 1 : 2
      await expect.poll(() => session().typesOf('input_audio')).toHaveLength(count)
      session().send({ type: 'input_audio_buffer.committed', item_id })
      await client.event('input_audio_buffer.committed')
    }
    const type = 'conversation.item.input_audio_transcription.completed'
    session().send({ type, item_id: 'item_1', content_index: 0, transcript: 'Hi.' })
    await client.event(type)
    await expect.poll(async () => (await bills(rig)).length).toBe(1)
    update(null)
    expect((await client.event('error')).error).toMatchObject({ code: 'invalid_parameter' })
    client.socket.terminate()
    await expect.poll(async () => (await bills(rig)).length).toBe(2)
    expect(await openCalls(rig)).toBe(0)
  })
})

describe('a limit of concurrent calls at realtime sessions', () => {
  beforeEach(() => rig.setOption('RateLimitsByModel', { [MODEL]: { concurrency: 1 } }))
  const tooMany = { code: 'too_many_concurrent' }
  const heard = () => session().typesOf('input_audio').length
  const speak = async (client: RealtimeClient) => {
    const before = heard()
    client.send(AUDIO)
    await expect.poll(heard).toBe(before + 1)
  }

  it('counts a response once, so that the caller can interrupt it', async () => {
    const client = await new RealtimeClient(rig.url, MODEL).open()
    await speak(client)
    const first = session().begin()
    await client.event('response.created')
    await speak(client)
    session().done(first, provider.usage, 'cancelled')
    await client.event('response.done')
    session().done(session().begin(), provider.usage)
    await client.event('response.done')
    expect(client.events.filter(({ type }) => type === 'error')).toEqual([])
    expect(session().typesOf('response.cancel')).toEqual([])
    expect((await bills(rig)).map(({ end }) => end)).toEqual(['incomplete', 'done'])
  })

  it('counts a session that listens once, also after a response', async () => {
    const [client, other] = [
      await new RealtimeClient(rig.url, MODEL).open(),
      await new RealtimeClient(rig.url, MODEL).open(),
    ]
    await speak(client)
    other.send(AUDIO)
    expect((await other.event('error')).error).toMatchObject(tooMany)
    const first = session().begin()
    await client.event('response.created')
    await speak(client)
    session().done(first, provider.usage)
    await client.event('response.done')
    other.send(AUDIO)
    expect((await other.event('error')).error).toMatchObject(tooMany)
    client.socket.terminate()
    const heardByOther = () => provider.sessions[1]?.typesOf('input_audio').length
    const speakAgain = async () => {
      other.send(AUDIO)
      return heardByOther()
    }
    await expect.poll(speakAgain).toBeGreaterThan(0)
  })

  it('refuses a request for a second response, and cancels one without a request', async () => {
    const client = await new RealtimeClient(rig.url, MODEL).open()
    await speak(client)
    session().begin()
    await client.event('response.created')
    const response = { conversation: 'none' }
    client.send({ type: 'response.create', event_id: 'second', response })
    expect((await client.event('error')).error).toMatchObject({ ...tooMany, event_id: 'second' })
    expect(session().typesOf('response.create')).toEqual([])
    await speak(client)
    session().begin()
    expect((await client.event('error')).error).toMatchObject(tooMany)
    await expect.poll(() => session().typesOf('response.cancel')).toHaveLength(1)
  })
})

describe('a provider that ignores the output limit of a realtime response', () => {
  const LIMIT = 100
  /** The estimate may be twice the true count, and 1 024 tokens are a margin. */
  const TOKENS_MAX = 2 * LIMIT + 1_024
  const WORDS = 'Hello there, '.repeat(20)
  beforeEach(() => rig.setOption('RateLimitsByModel', {}))

  const answers = (send: (at: ProviderSession, id: string) => void) => {
    provider.onEvent = ({ type }, at) => {
      if (type === 'response.create') send(at, at.begin())
      return type.startsWith('response.')
    }
  }
  const request = { type: 'response.create', response: { max_output_tokens: LIMIT } }
  const outputs = async () =>
    (await bills(rig)).map(({ end, attempts, usage }) => ({ end, attempts, ...usage }))

  it.each([
    ['text', (at: ProviderSession, id: string) => at.delta(id, WORDS)],
    [
      'sound',
      (at: ProviderSession, id: string) =>
        at.send({
          ...{ type: 'response.output_audio.delta', response_id: id },
          delta: Buffer.alloc(240_000).toString('base64'),
        }),
    ],
  ])('ends the session before it has sent endless %s, which is charged', async (_kind, delta) => {
    answers((at, id) => {
      for (let n = 0; n < 200; n += 1) delta(at, id)
      at.done(id, { ...USAGE, output_tokens: 90_000 })
    })
    const client = await sessionWithoutSpeech(rig.url)
    client.send(request)
    expect((await client.event('error')).error).toMatchObject({ code: 'output_limit_ignored' })
    expect(await client.isClosed()).toBe(1011)
    await expect.poll(() => session().isClosed).toBe(true)
    await expect.poll(outputs).toHaveLength(1)
    const [bill] = await outputs()
    expect(bill).toMatchObject({ end: 'incomplete', attempts: [{ error: 'over-limit' }] })
    expect(bill?.output).toBeGreaterThan(LIMIT)
    expect(bill?.output).toBeLessThan(TOKENS_MAX + 200)
    expect(await openCalls(rig)).toBe(0)
  })

  it('ends another response without output for the same reason, without a charge', async () => {
    answers((at, id) => {
      for (let n = 0; id === 'resp_2' && n < 200; n += 1) at.delta(id, WORDS)
    })
    const client = await sessionWithoutSpeech(rig.url)
    client.send(request)
    client.send(request)
    expect((await client.event('error')).error).toMatchObject({ code: 'output_limit_ignored' })
    const releases = async () =>
      (await rig.callEvents()).flatMap(({ type, data }) => (type === 'CallReleased' ? [data] : []))
    const end = { reason: 'incomplete', errorCode: 'output_limit_ignored' }
    await expect.poll(releases).toMatchObject([{ ...end, attempts: [{ error: 'over-limit' }] }])
    await expect.poll(outputs).toHaveLength(1)
  })

  it('holds the limit of a request also if speech begins another response first', async () => {
    provider.onEvent = ({ type }, at) => {
      if (type !== 'response.create') return false
      at.begin()
      at.begin()
      return true
    }
    const client = await new RealtimeClient(rig.url, MODEL).open()
    client.send({ type: 'session.update', session: { type: 'realtime', max_output_tokens: 1 } })
    await client.event('session.updated')
    client.send(AUDIO)
    client.send({ type: 'response.create', response: { max_output_tokens: 4_000 } })
    await client.event('response.created')
    await client.event('response.created')
    const holds = (await rig.callEvents()).flatMap((event) =>
      event.type === 'CallAdmitted' ? [event.data.hold] : [],
    )
    const ofOutput = 4_000 * 2.5 * 4
    expect(holds.at(-1)).toBeGreaterThan(ofOutput)
  })

  it('is not assumed while the estimate may be twice the true count', async () => {
    answers((at, id) => {
      at.delta(id, 'Hello there, '.repeat(LIMIT))
      at.done(id, provider.usage)
    })
    const client = await sessionWithoutSpeech(rig.url)
    client.send(request)
    await client.event('response.done')
    expect(client.closed).toBe(null)
  })

  describe('is not assumed if its sound is longer in another format, because', () => {
    const G711 = { audio: { output: { format: { type: 'audio/pcmu' } } } }
    const PCM = { audio: { output: { format: { type: 'audio/pcm', rate: 24_000 } } } }
    const update = { type: 'session.update', session: { type: 'realtime', ...G711 } }
    /** Tokens of 960 000 bytes of PCM. As G.711, these are six times as many. */
    const TOKENS = 400

    /** Begins a response of 20 seconds. Its events are sent before those in `more`. */
    const speaks = (more: (at: ProviderSession, id: string) => void) =>
      answers((at, id) => {
        const delta = Buffer.alloc(96_000).toString('base64')
        const sound = { type: 'response.output_audio.delta', response_id: id, delta }
        for (let n = 0; n < 10; n += 1) at.send(sound)
        more(at, id)
      })

    it('a change of the format is undecided', async () => {
      const client = await sessionWithoutSpeech(rig.url)
      speaks((at, id) => at.done(id, provider.usage))
      const { onEvent } = provider
      provider.onEvent = (event, at) =>
        event.type === 'session.update' || onEvent?.(event, at) === true
      client.send(update)
      client.send(request)
      await client.event('response.done')
      expect(client.closed).toBe(null)
    })

    it('a change of the format is refused, which then does not count either', async () => {
      const client = await sessionWithoutSpeech(rig.url)
      let event_id: unknown
      speaks((at) => at.send({ type: 'error', error: { message: 'No.', event_id } }))
      const { onEvent } = provider
      provider.onEvent = (event, at) => {
        if (event.type !== 'session.update') return onEvent?.(event, at) === true
        event_id = event.event_id
        return true
      }
      client.send(update)
      client.send(request)
      await client.event('error')
      client.socket.close()
      await expect.poll(outputs, { timeout: 10_000 }).toHaveLength(1)
      expect(await outputs()).toMatchObject([{ outputAudio: TOKENS }])
    })

    it('the request has its own format', async () => {
      const client = await sessionWithoutSpeech(rig.url)
      client.send(update)
      await client.event('session.updated')
      speaks((at, id) => at.delta(id, 'End.'))
      client.send({ ...request, response: { ...request.response, ...PCM } })
      await client.event('response.output_text.delta')
      client.socket.close()
      await expect.poll(outputs, { timeout: 10_000 }).toHaveLength(1)
      expect(await outputs()).toMatchObject([{ outputAudio: TOKENS }])
    })
  })

  it('costs nothing more if the model is free, so the session continues', async () => {
    await rig.setOption('ModelRatio', { [MODEL]: 0, [TRANSCRIBER]: 1.25 })
    answers((at, id) => {
      for (let n = 0; n < 200; n += 1) at.delta(id, WORDS)
      at.done(id, provider.usage)
    })
    const client = await sessionWithoutSpeech(rig.url)
    client.send(request)
    await client.event('response.done')
    expect(client.closed).toBe(null)
  })
})
