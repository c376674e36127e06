import { describe, expect, it, vi } from 'vitest'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { RealtimeSession } from '#relay/realtime/realtime-session.ts'
import { CHARGE, USAGE } from '../support/realtime-provider.ts'
import {
  audio,
  bills,
  callTypes,
  MODEL,
  openCalls,
  realtimeSite,
  sessionWithoutSpeech,
  TRANSCRIBER,
} from '../support/realtime-site.ts'
import { TOKEN, USER } from '../support/relay-rig.ts'

const { provider, rig, session, connect } = realtimeSite({
  deadlines: { progressMs: 200, renewMs: 200, firstEventMs: 3_000 },
})

const speech = (input: object) => ({ session: { type: 'realtime', audio: { input } } })
const charges = async () => (await bills(rig)).map(({ charge }) => charge)
const releases = async () =>
  (await rig.callEvents()).flatMap(({ type, data }) => (type === 'CallReleased' ? [data] : []))

/** Makes the event store refuse all charges. */
function failSettlements(): void {
  const { actors } = rig.core
  const { handle } = actors
  vi.spyOn(actors, 'handle').mockImplementation(async (decider, stream, command, context) => {
    if ((command as { type?: unknown }).type === 'SettleCall') throw new StoreUnavailable('away')
    return handle(decider, stream, command, context)
  })
}

/** The provider begins a response at each request, and says some words, but does not end it. */
const hangs = () => {
  provider.onEvent = ({ type }, at) => {
    if (type === 'response.create') at.delta(at.begin(), 'Hello there, '.repeat(40))
    return type === 'response.create' || type === 'response.cancel'
  }
}

describe('the bill of a realtime response', () => {
  it('cached audio is charged as cached, not as audio', async () => {
    await rig.setOption('CacheRatio', { [MODEL]: 0.1 })
    provider.usage = {
      ...USAGE,
      input_tokens: 1_000,
      input_token_details: {
        ...{ text_tokens: 300, audio_tokens: 700, cached_tokens: 600 },
        cached_tokens_details: { text_tokens: 200, audio_tokens: 400 },
      },
    }
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.done')
    const [bill] = await bills(rig)
    expect(bill?.usage).toMatchObject({ inputUncached: 100, cacheRead: 600, inputAudio: 300 })
    expect(bill?.formats).toEqual(['realtime'])
    expect(bill?.charge).toBe((100 + 60 + 300 * 8 + 50 * 4 + 300 * 16) * 2.5)
  })

  it.each([
    ['negative', { ...USAGE, input_tokens: -5 }],
    ['a text', { ...USAGE, output_tokens: 'many' }],
    ['absurd', { ...USAGE, output_tokens: 90_000_000 }],
    ['no number', { ...USAGE, input_tokens: { toString: 1 } }],
    ['missing', null],
    [
      'cached beyond the input',
      {
        ...USAGE,
        input_token_details: { ...USAGE.input_token_details, cached_tokens: -300 },
      },
    ],
  ])('a report that is %s makes nothing cheaper than the own count', async (_name, usage) => {
    provider.usage = usage
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.done')
    const [bill] = await bills(rig)
    expect(bill?.charge).toBeGreaterThan(0)
    expect(bill?.anomaly).not.toBe(null)
    expect(await openCalls(rig)).toBe(0)
  })

  it('is written once, whatever the provider repeats or invents', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.done')
    session().done('resp_1', USAGE)
    session().done('resp_unknown', USAGE)
    session().done(undefined as unknown as string, USAGE)
    session().respond(USAGE)
    session().send({ type: 'conversation.item.added', item: {} })
    await client.event('conversation.item.added')
    expect(await charges()).toEqual([CHARGE])
    expect(await openCalls(rig)).toBe(0)
  })

  it('a failed response without usage costs nothing', async () => {
    provider.onEvent = ({ type }, at) => {
      if (type === 'response.create') at.done(at.begin(), null, 'failed')
      return type === 'response.create'
    }
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.done')
    expect(await callTypes(rig)).toEqual(['CallAdmitted', 'CallReleased'])
  })

  it('a refused request costs nothing, and its call is used by the next one', async () => {
    let refusals = 1
    provider.onEvent = ({ type, event_id }, at) => {
      if (type !== 'response.create' || refusals === 0) return false
      refusals -= 1
      const message = 'Key sk-provider-secret-0123456789 of org-abcdefgh at http://10.0.0.7:1/'
      at.send({ type: 'error', error: { type: 'invalid_request_error', message, event_id } })
      return true
    }
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create', event_id: 'first' })
    const { error } = await client.event('error')
    expect(error).toMatchObject({ event_id: 'first' })
    expect(JSON.stringify(error)).not.toMatch(/secret|org-abc|10\.0\.0\.7/)
    client.send({ type: 'response.create' })
    await client.event('response.done')
    const types = (await callTypes(rig)).filter((type) => type !== 'CallProgressed')
    expect(types).toEqual(['CallAdmitted', 'CallSettled'])
  })

  it('an error about another event with the same id makes no response free', async () => {
    provider.onEvent = ({ type, event_id }, at) => {
      if (type === 'conversation.item.delete') at.send({ type: 'error', error: { event_id } })
      if (type === 'input_audio_buffer.clear') at.respond(USAGE)
      return type === 'response.create'
    }
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create', event_id: 'same' })
    client.send({ type: 'conversation.item.delete', item_id: 'none', event_id: 'same' })
    expect((await client.event('error')).error).toMatchObject({ event_id: 'same' })
    client.send({ type: 'input_audio_buffer.clear' })
    await client.event('response.done')
    expect(await charges()).toEqual([CHARGE])
  })

  it('an error that names no event does not block the next request', async () => {
    let refusals = 1
    provider.onEvent = ({ type }, at) => {
      if (type !== 'response.create' || refusals === 0) return false
      refusals -= 1
      at.send({ type: 'error', error: { type: 'invalid_request_error', message: 'No.' } })
      return true
    }
    const client = await sessionWithoutSpeech(rig.url)
    for (let at = 0; at < 2; at += 1) client.send({ type: 'response.create' })
    await client.event('response.done')
    expect(await charges()).toEqual([CHARGE])
    client.socket.close()
    await expect.poll(() => openCalls(rig)).toBe(0)
    expect(await charges()).toEqual([CHARGE])
  })

  it('two requests at once are two calls', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    const outside = { conversation: 'none', input: [], max_output_tokens: 300 }
    for (let at = 0; at < 3; at += 1) client.send({ type: 'response.create', response: outside })
    for (let at = 0; at < 3; at += 1) await client.event('response.done')
    expect(await charges()).toEqual([CHARGE, CHARGE, CHARGE])
    expect(await openCalls(rig)).toBe(0)
  })

  it('responses that begin by speech each have a call that was admitted before', async () => {
    const client = await connect()
    client.send(audio(48_000))
    await expect.poll(() => session().typesOf('input_audio').length).toBe(1)
    for (let at = 0; at < 5; at += 1) session().respond(USAGE)
    for (let at = 0; at < 5; at += 1) await client.event('response.done')
    expect(await charges()).toEqual(Array.from({ length: 5 }, () => CHARGE))
    client.socket.close()
    await expect.poll(() => openCalls(rig)).toBe(0)
    expect(await charges()).toHaveLength(5)
  })
})

describe('a realtime session that ends during a response', () => {
  it('cancels the response when the caller leaves, and charges its usage', async () => {
    hangs()
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.output_text.delta')
    client.socket.terminate()
    await expect.poll(() => session().typesOf('response.cancel')).toHaveLength(1)
    session().done('resp_1', USAGE, 'cancelled')
    await expect.poll(charges).toEqual([CHARGE])
    expect((await bills(rig))[0]).toMatchObject({ end: 'incomplete', usageSource: 'upstream' })
    await expect.poll(() => session().isClosed).toBe(true)
  })

  it('charges the input that a response had of its own', async () => {
    hangs()
    const client = await sessionWithoutSpeech(rig.url)
    const content = [{ type: 'input_text', text: 'x'.repeat(40_000) }]
    const response = { conversation: 'none', input: [{ role: 'user', content }] }
    client.send({ type: 'response.create', response })
    await client.event('response.output_text.delta')
    session().done('resp_1', null, 'cancelled')
    await client.event('response.done')
    expect((await bills(rig))[0]?.usage.inputUncached).toBeGreaterThan(9_000)
  })

  it.each([
    ['no usage', null],
    ['a usage of zero', { input_tokens: 0, output_tokens: 0 }],
  ])('a cancelled response with %s is charged by what was delivered', async (_name, usage) => {
    hangs()
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.output_text.delta')
    session().done('resp_1', usage, 'cancelled')
    await client.event('response.done')
    const [bill] = await bills(rig)
    expect(bill).toMatchObject({ usageSource: 'partial', end: 'incomplete' })
    expect(bill?.usage.output).toBeGreaterThan(50)
  })

  it('screened words are refused in both directions, and what was said is charged', async () => {
    await rig.setOption('SensitiveWords', 'forbidden')
    await rig.setOption('CheckSensitiveEnabled', 'true')
    await rig.setOption('CheckSensitiveOnPromptEnabled', 'true')
    await rig.setOption('StopOnSensitiveEnabled', 'true')
    provider.onEvent = ({ type }, at) => {
      if (type === 'response.cancel') at.done('resp_1', USAGE, 'cancelled')
      if (type !== 'response.create') return type === 'response.cancel'
      const id = at.begin()
      for (const piece of ['This is for', 'bidden.']) at.delta(id, piece)
      return true
    }
    const client = await sessionWithoutSpeech(rig.url)
    const content = [{ type: 'input_text', text: 'a forbidden word' }]
    client.send({ type: 'conversation.item.create', item: { role: 'user', content } })
    expect((await client.event('error')).error).toMatchObject({ code: 'sensitive_prompt' })
    client.send({ type: 'response.create' })
    expect((await client.event('error')).error).toMatchObject({ code: 'sensitive_answer' })
    expect(JSON.stringify(client.events)).not.toContain('bidden')
    await expect.poll(charges).toEqual([CHARGE])
    const screened = { endReason: 'sensitive_answer', attempts: [{ error: 'screened' }] }
    expect(await bills(rig)).toMatchObject([screened])
  })

  it('a response that can not be paid ends the session, and each one is charged', async () => {
    const client = await connect()
    client.send(audio(4_800))
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
    provider.onEvent = ({ type, response_id }, at) => {
      if (type === 'response.cancel') at.done(String(response_id), USAGE, 'cancelled')
      return type === 'response.cancel'
    }
    session().delta(session().begin())
    await client.event('response.output_text.delta')
    await rig.setBudget(USER, TOKEN, 0n)
    session().begin()
    expect((await client.event('error')).error).toMatchObject({ code: 'token_exhausted' })
    await expect.poll(charges).toEqual([CHARGE, CHARGE])
    await expect.poll(() => openCalls(rig)).toBe(0)
    const revoked = { endReason: 'token_exhausted', attempts: [{ error: 'revoked' }] }
    expect(await bills(rig)).toMatchObject([revoked, revoked])
  })

  it('charges what was delivered if the provider does not end it', async () => {
    hangs()
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.output_text.delta')
    client.socket.terminate()
    await expect.poll(charges).toHaveLength(1)
    const [bill] = await bills(rig)
    expect(bill).toMatchObject({ end: 'client-gone', usageSource: 'partial' })
    expect(bill?.usage.output).toBeGreaterThan(50)
    expect(bill?.usage.inputUncached).toBeGreaterThan(0)
  })

  it('a caller who leaves at once after a request pays for its input', async () => {
    provider.onEvent = ({ type }) => type === 'response.create'
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await expect.poll(() => session().typesOf('response.create')).toHaveLength(1)
    client.socket.terminate()
    await expect.poll(charges).toHaveLength(1)
    expect((await bills(rig))[0]?.usage.inputUncached).toBeGreaterThan(0)
  })

  it('a cut by the provider is charged by what was delivered, and told to the caller', async () => {
    hangs()
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await client.event('response.output_text.delta')
    session().socket.terminate()
    expect((await client.event('error')).error).toMatchObject({ code: 'upstream_incomplete' })
    expect(await client.isClosed()).toBe(1011)
    await expect.poll(charges).toHaveLength(1)
    expect((await bills(rig))[0]).toMatchObject({ end: 'incomplete', usageSource: 'partial' })
  })

  it('a session whose provider begins no response ends without a charge', async () => {
    provider.onEvent = ({ type }) => type === 'response.create'
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    expect((await client.event('error')).error).toMatchObject({ code: 'upstream_timeout' })
    const end = { reason: 'timeout', errorCode: 'upstream_timeout', attempts: [] }
    await expect.poll(releases).toMatchObject([end])
    expect(await charges()).toEqual([])
  })

  it.each([true, false])(
    'without output is not blamed on its provider (begun: %s)',
    async (begins) => {
      provider.onEvent = ({ type }, at) => {
        const isLast = at.typesOf('response.create').length === 2
        if (type === 'response.create' && (begins || !isLast)) at.begin()
        return type.startsWith('response.')
      }
      failSettlements()
      const client = await sessionWithoutSpeech(rig.url)
      client.send({ type: 'response.create' })
      client.send({ type: 'response.create' })
      await expect.poll(() => session().typesOf('response.create')).toHaveLength(2)
      session().done('resp_1', USAGE)
      expect((await client.event('error')).error).toMatchObject({ code: 'store_unavailable' })
      const end = { reason: 'incomplete', errorCode: 'store_unavailable' }
      const attempts = [{ channelId: 2, error: 'store-unavailable' }]
      await expect.poll(releases).toMatchObject([{ ...end, attempts }])
      expect(await charges()).toEqual([])
    },
  )

  it('renews its lease and records its progress while it runs', async () => {
    hangs()
    const client = await sessionWithoutSpeech(rig.url)
    client.send({ type: 'response.create' })
    await expect.poll(() => callTypes(rig)).toContain('CallProgressed')
    const progress = (await rig.callEvents()).find(({ type }) => type === 'CallProgressed')
    expect(progress?.data).toMatchObject({ channelId: 2 })
    expect(JSON.stringify(progress?.data)).toMatch(/"output":[1-9]/)
  })

  it('a stop waits for the response, and then closes the session', async () => {
    hangs()
    const idle = await connect()
    const busy = await sessionWithoutSpeech(rig.url)
    busy.send({ type: 'response.create' })
    await busy.event('response.output_text.delta')
    const drained = rig.relay.drain(5_000)
    expect(await idle.isClosed()).toBe(1012)
    provider.sessions[1]?.done('resp_1', USAGE)
    expect((await busy.event('response.done')).response).toMatchObject({ usage: USAGE })
    expect(await busy.isClosed()).toBe(1012)
    await drained
    expect(await charges()).toEqual([CHARGE])
    expect(await openCalls(rig)).toBe(0)
  })
})

describe('a realtime response that could be missed or undercounted', () => {
  it('is billed if it begins after silence, although none follows speech', async () => {
    const client = await connect()
    const turn_detection = { type: 'server_vad', create_response: false, idle_timeout_ms: 5_000 }
    client.send({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { turn_detection } } },
    })
    await client.event('session.updated')
    session().respond(provider.usage)
    await client.event('response.done')
    expect(await charges()).toEqual([CHARGE])
  })

  it('is cancelled and not shown if nobody has requested it', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    session().respond(USAGE)
    session().send({ type: 'conversation.item.added', item: { id: 'item_of_another' } })
    await expect
      .poll(() => client.events.map(({ type }) => type))
      .toContain('conversation.item.added')
    expect(client.events.filter(({ type }) => type.startsWith('response.'))).toEqual([])
    await expect.poll(() => session().typesOf('response.cancel')).toHaveLength(1)
    expect(await bills(rig)).toEqual([])
  })

  it.each([
    ['requested', 'response.create'],
    ['begun by speech', 'session.update'],
  ])('does not end with the call of another response that is %s', async (_name, type) => {
    provider.onEvent = (event) => /^response\./.test(event.type)
    const client = await sessionWithoutSpeech(rig.url)
    const unrequested = session().begin()
    await expect.poll(() => session().typesOf('response.cancel')).toHaveLength(1)
    const turn_detection = { type: 'server_vad' }
    client.send({ type, ...(type === 'session.update' ? speech({ turn_detection }) : {}) })
    if (type === 'session.update') await client.event('session.updated')
    else await expect.poll(() => session().typesOf('response.create')).toHaveLength(1)
    session().done(unrequested, { ...USAGE, output_tokens: 351, total_tokens: 651 })
    session().done(session().begin(), USAGE)
    await client.event('response.done')
    expect(await charges()).toEqual([CHARGE])
  })

  it('is billed if it answers speech from before responses to speech were turned off', async () => {
    const client = await connect()
    client.send(audio(48_000))
    await expect.poll(() => session().typesOf('input_audio').length).toBe(1)
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    client.send({ type: 'session.update', ...speech({ turn_detection: null }) })
    await client.event('session.updated')
    for (let at = 0; at < 2; at += 1) session().respond(USAGE)
    await client.event('response.done')
    await expect.poll(() => session().typesOf('response.cancel')).toHaveLength(1)
    expect(await charges()).toEqual([CHARGE])
  })

  it('is billed if a response to earlier speech begins before it', async () => {
    provider.onEvent = ({ type }) => type === 'response.create'
    const client = await connect()
    client.send(audio(48_000))
    await expect.poll(() => session().typesOf('input_audio').length).toBe(1)
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    client.send({ type: 'session.update', ...speech({ turn_detection: null }) })
    await client.event('session.updated')
    client.send({ type: 'response.create', response: { conversation: 'none' } })
    await expect.poll(() => session().typesOf('response.create')).toHaveLength(1)
    for (let at = 0; at < 2; at += 1) session().respond(USAGE)
    const ends = () => client.events.filter(({ type }) => type === 'response.done')
    await expect.poll(ends).toHaveLength(2)
    expect(await charges()).toEqual([CHARGE, CHARGE])
  })

  it('is billed once if its end has no id, and further such ends are not shown', async () => {
    provider.onEvent = ({ type }, at) => {
      if (type === 'response.create') at.delta(at.begin())
      return type === 'response.create'
    }
    const client = await connect()
    client.send({ type: 'response.create' })
    await client.event('response.output_text.delta')
    for (let at = 0; at < 3; at += 1) session().done(undefined as unknown as string, USAGE)
    session().send({ type: 'conversation.item.added', item: {} })
    const isAdded = () => client.events.some(({ type }) => type === 'conversation.item.added')
    await expect.poll(isAdded).toBe(true)
    expect(client.events.filter(({ type }) => type === 'response.done')).toHaveLength(1)
    client.socket.close()
    await expect.poll(() => openCalls(rig)).toBe(0)
    expect(await charges()).toEqual([CHARGE])
  })

  it('is billed if the provider still responds to speech after a change', async () => {
    provider.onEvent = ({ type }, at) => {
      const turn_detection = { type: 'server_vad', create_response: true }
      const effective = { audio: { input: { turn_detection } } }
      if (type === 'session.update') at.send({ type: 'session.updated', session: effective })
      return type === 'session.update'
    }
    const client = await sessionWithoutSpeech(rig.url)
    session().respond(USAGE)
    await client.event('response.done')
    expect(await charges()).toEqual([CHARGE])
  })

  it('in the format of telephones is counted at the rate of this format', async () => {
    provider.onEvent = ({ type }, at) => {
      const response_id = type === 'response.create' ? at.begin() : ''
      const delta = Buffer.alloc(4_000).toString('base64')
      if (response_id !== '') at.send({ type: 'response.output_audio.delta', response_id, delta })
      return type === 'response.create' || type === 'response.cancel'
    }
    const client = await sessionWithoutSpeech(rig.url)
    const audio = { output: { format: { type: 'audio/pcmu' } } }
    client.send({ type: 'response.create', response: { audio } })
    await client.event('response.output_audio.delta')
    session().socket.terminate()
    await expect.poll(() => bills(rig)).toHaveLength(1)
    expect((await bills(rig))[0]?.usage).toMatchObject({ outputAudio: 11 })
  })
})

describe('the transcription of the input of a realtime session', () => {
  const COMPLETED = 'conversation.item.input_audio_transcription.completed'
  const transcription = { model: TRANSCRIBER }
  const input = { turn_detection: null, transcription }
  const usage = {
    ...{ type: 'tokens', input_tokens: 110, output_tokens: 20, total_tokens: 130 },
    input_token_details: { text_tokens: 10, audio_tokens: 100 },
  }

  const transcribing = async () => {
    const client = await connect()
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input } } })
    await client.event('session.updated')
    client.send(audio(48_000))
    client.send({ type: 'input_audio_buffer.commit' })
    await expect.poll(() => session().typesOf('input_audio_buffer.commit')).toHaveLength(1)
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    await client.event('input_audio_buffer.committed')
    return client
  }

  it('is a separate call, charged once, also without a commit that was seen', async () => {
    const client = await transcribing()
    for (let at = 0; at < 2; at += 1) {
      session().send({ type: COMPLETED, item_id: 'item_1', transcript: 'Hi', usage })
      session().send({ type: COMPLETED, item_id: 'item_9', transcript: 'Hi', usage })
    }
    for (let at = 0; at < 4; at += 1) await client.event(COMPLETED)
    const charge = (10 + 100 * 2 + 20 * 4) * 1.25
    const bill = { model: TRANSCRIBER, charge: Math.round(charge) }
    expect(await bills(rig)).toMatchObject([bill, bill])
    expect(await openCalls(rig)).toBe(0)
  })

  it('covers audio that was sent before it was turned on', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    client.send(audio(480_000))
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input } } })
    await client.event('session.updated')
    expect(await openCalls(rig)).toBe(1)
    client.send({ type: 'input_audio_buffer.commit' })
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_2' })
    session().send({ type: COMPLETED, item_id: 'item_1', transcript: 'Hi', usage })
    session().send({ type: COMPLETED, item_id: 'item_2', transcript: 'Hi', usage })
    for (let at = 0; at < 2; at += 1) await client.event(COMPLETED)
    expect(await charges()).toHaveLength(2)
    expect(await openCalls(rig)).toBe(0)
  })

  it('can not be turned off or changed while it may still arrive', async () => {
    const client = await transcribing()
    for (const other of [null, { model: MODEL }]) {
      const update = { type: 'realtime', audio: { input: { transcription: other } } }
      client.send({ type: 'session.update', session: update })
      const param = 'session.audio.input.transcription'
      expect((await client.event('error')).error).toMatchObject({ param })
    }
    session().send({ type: COMPLETED, item_id: 'item_1', transcript: 'Hi', usage })
    await client.event(COMPLETED)
    expect(await charges()).toHaveLength(1)
    client.send({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { transcription: null } } },
    })
    await client.event('session.updated')
    client.send(audio(4_800))
    await expect.poll(() => session().typesOf('input_audio_buffer.append')).toHaveLength(2)
    expect(await openCalls(rig)).toBe(0)
  })

  it('a usage in seconds is charged by the tokens of that time', async () => {
    const client = await transcribing()
    const seconds = { type: 'duration', seconds: 1.5 }
    session().send({ type: COMPLETED, item_id: 'item_1', transcript: 'Hi', usage: seconds })
    await client.event(COMPLETED)
    expect((await bills(rig))[0]?.usage).toMatchObject({ inputAudio: 15, output: 0 })
  })

  it('is charged by the usage that arrives soon after the caller has left', async () => {
    const client = await transcribing()
    const end = vi.spyOn(RealtimeSession.prototype, 'end')
    client.socket.terminate()
    await expect.poll(() => end.mock.calls.length).toBe(1)
    session().send({ type: COMPLETED, item_id: 'item_1', usage })
    const usages = async () => (await bills(rig)).map((bill) => bill.usage)
    await expect.poll(usages).toMatchObject([{ inputAudio: 100, output: 20 }])
    await expect.poll(() => session().isClosed).toBe(true)
    expect(await openCalls(rig)).toBe(0)
  })
})

it('100 sessions at once: each response is charged once', async () => {
  const clients = await Promise.all(
    Array.from({ length: 100 }, () => sessionWithoutSpeech(rig.url)),
  )
  await Promise.all(
    clients.map(async (client) => {
      for (let turn = 0; turn < 2; turn += 1) {
        client.send({ type: 'response.create' })
        await client.event('response.done')
      }
      client.socket.close()
    }),
  )
  await expect.poll(() => provider.sessions.every(({ isClosed }) => isClosed)).toBe(true)
  const all = await bills(rig)
  expect(all.map(({ charge }) => charge)).toEqual(Array.from({ length: 200 }, () => CHARGE))
  expect(new Set(all.map(({ call }) => call)).size).toBe(200)
  expect(await openCalls(rig)).toBe(0)
})
