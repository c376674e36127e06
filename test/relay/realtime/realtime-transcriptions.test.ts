import { describe, expect, it } from 'vitest'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import type { RealtimeClient } from '../support/realtime-client.ts'
import {
  audio,
  bills,
  COMMIT,
  callTypes,
  openCalls,
  realtimeSite,
  sessionWithoutSpeech,
  TRANSCRIBER,
  TRANSCRIPTION,
  transcribingSession,
} from '../support/realtime-site.ts'
import { stopAnswersWith, TOKEN, USER } from '../support/relay-rig.ts'

/** In no test of this file does a usage arrive after the caller has left. */
const { provider, rig, session } = realtimeSite({ deadlines: { lastUsageMs: 200 } })
const ONE_TOKEN = {
  ...{ type: 'tokens', input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  input_token_details: { text_tokens: 0, audio_tokens: 1 },
}

const sent = (type: string) => session().typesOf(`input_audio_buffer.${type}`).length
const audioTokens = async () => (await bills(rig)).map(({ usage }) => usage.inputAudio)

async function committed(client: RealtimeClient, item_id: string): Promise<void> {
  session().send({ type: 'input_audio_buffer.committed', item_id })
  await client.event('input_audio_buffer.committed')
}

/** Commits one token and then 200 tokens of audio before the provider confirms a commit. */
async function twoCommits(): Promise<RealtimeClient> {
  const client = await transcribingSession(rig.url)
  for (const bytes of [4_800, 960_000]) {
    client.send(audio(bytes))
    client.send(COMMIT)
  }
  await expect.poll(() => sent('commit')).toBe(2)
  return client
}

describe('commits of audio that the provider has not yet confirmed', () => {
  it('each item is charged for the audio of its own commit', async () => {
    const client = await twoCommits()
    await committed(client, 'item_1')
    await committed(client, 'item_2')
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', usage: ONE_TOKEN })
    await client.event(`${TRANSCRIPTION}.completed`)
    client.socket.close()
    await expect.poll(audioTokens).toEqual([1, 200])
    expect(await openCalls(rig)).toBe(0)
  })

  it('an item whose usage is no number is charged at least by the own count', async () => {
    const client = await twoCommits()
    await committed(client, 'item_1')
    const usage = { ...ONE_TOKEN, input_tokens: { toString: 1 } }
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', usage })
    await client.event(`${TRANSCRIPTION}.completed`)
    const [bill] = await bills(rig)
    expect(bill).toMatchObject({ anomaly: 'not-a-number', usageSource: 'estimated' })
    expect(bill?.charge).toBeGreaterThan(0)
    client.socket.close()
    await expect.poll(() => openCalls(rig)).toBe(0)
  })

  it('a failed item does not make the audio of other items free', async () => {
    const client = await twoCommits()
    await committed(client, 'item_1')
    session().send({ type: `${TRANSCRIPTION}.failed`, item_id: 'item_1', error: {} })
    await client.event(`${TRANSCRIPTION}.failed`)
    client.socket.close()
    await expect.poll(audioTokens).toEqual([200])
    expect(await openCalls(rig)).toBe(0)
  })

  it('their audio is charged if the caller leaves at once', async () => {
    const client = await twoCommits()
    client.socket.close()
    await expect.poll(audioTokens).toEqual([201])
    expect(await openCalls(rig)).toBe(0)
  })

  it('the audio of a refused commit belongs to the next one', async () => {
    const client = await twoCommits()
    const [first] = session().events.filter(({ type }) => type === COMMIT.type)
    session().send({ type: 'error', error: { message: 'No.', event_id: first?.event_id } })
    await client.event('error')
    await committed(client, 'item_1')
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1' })
    await client.event(`${TRANSCRIPTION}.completed`)
    expect(await audioTokens()).toEqual([201])
    expect(await openCalls(rig)).toBe(0)
  })

  it('a refused commit leaves audio that is not charged without another one', async () => {
    const client = await transcribingSession(rig.url)
    client.send(audio(4_800))
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    const [commit] = session().events.filter(({ type }) => type === COMMIT.type)
    session().send({ type: 'error', error: { message: 'No.', event_id: commit?.event_id } })
    await client.event('error')
    client.socket.close()
    await expect.poll(() => openCalls(rig)).toBe(0)
    expect(await bills(rig)).toEqual([])
  })
})

describe('a transcription while another one has not arrived', () => {
  const disabled = {
    type: 'TokensDisabled',
    v: 1,
    data: { userId: USER, tokenIds: [TOKEN] },
  } as const
  const context = { actor: 'system:test', cause: null, at: 1 }
  const account = (command: AccountCommand) =>
    rig.core.actors.handle(accountDecider, accountStream(USER), command, context)
  const closed = { userId: USER, tokenIds: [TOKEN] }
  const order = { orderId: 1, refundNo: 1, provider: 'stripe' }
  const amount = 10n ** 12n
  const reversal = { userId: USER, ...order, amount, note: 'sealed' as Sealed }
  const sum = async () => (await audioTokens()).reduce((all, tokens) => all + tokens, 0)

  it('is charged only when quota is reserved for the other one', async () => {
    const client = await twoCommits()
    await committed(client, 'item_1')
    await committed(client, 'item_2')
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', usage: ONE_TOKEN })
    await client.event(`${TRANSCRIPTION}.completed`)
    const types = (await callTypes(rig)).filter((type) => /Admitted|Settled/.test(type))
    expect(types).toEqual(['CallAdmitted', 'CallAdmitted', 'CallSettled'])
  })

  it.each([
    ['has lost access', () => rig.append(tokensStream(USER), disabled)],
    ['can not pay for another hold', () => rig.setBudget(USER, TOKEN, 0n)],
    ['has a negative balance', () => account({ type: 'ReverseTopUp', ...reversal })],
    ['has deleted the token', () => account({ type: 'CloseTokenBudgets', ...closed })],
  ])('leaves the other one charged if the caller %s', async (_name, change) => {
    const client = await twoCommits()
    await committed(client, 'item_1')
    await committed(client, 'item_2')
    await change()
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', usage: ONE_TOKEN })
    session().send({ type: `${TRANSCRIPTION}.delta`, item_id: 'item_2', delta: 'Hello' })
    client.socket.close()
    await expect.poll(sum).toBe(201)
    expect(await openCalls(rig)).toBe(0)
  })
})

describe('the text of a transcription', () => {
  const TEXT = 'Hello there, '.repeat(40)
  const usages = async () => (await bills(rig)).map(({ usage }) => usage)

  async function oneItem(): Promise<RealtimeClient> {
    const client = await transcribingSession(rig.url)
    client.send(audio(48_000))
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    await committed(client, 'item_1')
    return client
  }

  it('is charged as output if the caller leaves before the usage arrives', async () => {
    const client = await oneItem()
    session().send({ type: `${TRANSCRIPTION}.delta`, item_id: 'item_1', delta: TEXT })
    await client.event(`${TRANSCRIPTION}.delta`)
    client.socket.close()
    await expect.poll(usages).toMatchObject([{ inputAudio: 10, output: 130 }])
  })

  it('is charged as output if the provider reports no usage', async () => {
    const client = await oneItem()
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', transcript: TEXT })
    await client.event(`${TRANSCRIPTION}.completed`)
    expect(await usages()).toMatchObject([{ inputAudio: 10, output: 130 }])
  })

  it('is no output of a model that reports a duration', async () => {
    const client = await oneItem()
    const usage = { type: 'duration', seconds: 1 }
    session().send({
      type: `${TRANSCRIPTION}.completed`,
      item_id: 'item_1',
      transcript: TEXT,
      usage,
    })
    await client.event(`${TRANSCRIPTION}.completed`)
    expect(await bills(rig)).toMatchObject([{ usage: { output: 0 }, anomaly: null }])
  })

  it('ends the session at the 1 001st that has not arrived, and charges them all', async () => {
    const client = await oneItem()
    const committed = (item: number) =>
      session().send({ type: 'input_audio_buffer.committed', item_id: `item_${item}` })
    for (let item = 2; item <= 1_000; item += 1) committed(item)
    client.send(audio(96_000))
    await expect.poll(() => session().typesOf('input_audio_buffer.append')).toHaveLength(2)
    expect(client.closed).toBe(null)
    committed(1_001)
    expect((await client.event('error')).error).toMatchObject({ code: 'too_many_concurrent' })
    expect(await client.isClosed()).toBe(1008)
    await expect.poll(() => bills(rig)).toHaveLength(1)
    expect((await bills(rig))[0]?.usage).toMatchObject({ inputAudio: 10 + 20 })
    expect(await openCalls(rig)).toBe(0)
  })

  it('is charged by the own count if the caller leaves before it arrives', async () => {
    const client = await oneItem()
    client.socket.close()
    await expect.poll(() => bills(rig)).toHaveLength(1)
    expect((await bills(rig))[0]?.usage).toMatchObject({ inputAudio: 10 })
    expect(await openCalls(rig)).toBe(0)
  })
})

describe('the format of audio', () => {
  const inputAudio = async () => (await bills(rig)).map(({ usage }) => usage.inputAudio)

  async function committedAfter(client: RealtimeClient): Promise<void> {
    client.send(audio(48_000))
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    await committed(client, 'item_1')
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1' })
    await client.event(`${TRANSCRIPTION}.completed`)
  }

  it.each([
    ['a response in G.711', { audio: { output: { format: { type: 'audio/pcmu' } } } }],
    ['a response without a format', { output_audio_format: null }],
  ])('of the input is not changed by %s', async (_name, response) => {
    const client = await transcribingSession(rig.url)
    client.send({ type: 'response.create', response })
    await client.event('response.done')
    await committedAfter(client)
    expect((await inputAudio()).at(-1)).toBe(10)
  })

  it.each([
    ['PCM of 8 kHz', { type: 'audio/pcm', rate: 8_000 }, 30],
    ['PCM of 24 kHz', { type: 'audio/pcm', rate: 24_000 }, 10],
    ['G.711', { type: 'audio/pcmu' }, 60],
    ['null', null, 10],
  ])('of the input as %s is counted by its rate', async (_name, format, tokens) => {
    const client = await transcribingSession(rig.url)
    const session = { type: 'realtime', audio: { input: { format } } }
    client.send({ type: 'session.update', session })
    await client.event('session.updated')
    await committedAfter(client)
    expect(await inputAudio()).toEqual([tokens])
  })
})

describe('a change of the settings that the provider refuses', () => {
  const refuseUpdates = () => {
    provider.onEvent = ({ type, event_id }, to) => {
      if (type !== 'session.update') return false
      to.send({ type: 'error', error: { message: 'No.', event_id } })
      return true
    }
  }
  const changeTo = async (client: RealtimeClient, transcription: object | null) => {
    const input = { turn_detection: null, transcription }
    const session = { type: 'realtime', audio: { input }, voice: 'unknown' }
    client.send({ type: 'session.update', session })
    await client.event('error')
  }
  const transcribe = async (client: RealtimeClient) => {
    client.send(audio(960_000))
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    await committed(client, 'item_1')
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', transcript: 'Yes' })
    await client.event(`${TRANSCRIPTION}.completed`)
    client.socket.close()
  }

  it('does not turn off the charge for transcriptions', async () => {
    const client = await transcribingSession(rig.url)
    refuseUpdates()
    await changeTo(client, null)
    await transcribe(client)
    await expect.poll(audioTokens).toEqual([200])
    expect(await openCalls(rig)).toBe(0)
  })

  it('does not charge for transcriptions that stay off', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    refuseUpdates()
    await changeTo(client, { model: TRANSCRIBER })
    client.send(audio(960_000))
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    await committed(client, 'item_1')
    client.socket.close()
    await expect.poll(() => openCalls(rig)).toBe(0)
    expect(await audioTokens()).toEqual([])
  })
})

const speech = (type: string, item_id: string, ms: object) =>
  session().send({ type: `input_audio_buffer.speech_${type}`, item_id, ...ms })

async function completed(client: RealtimeClient, item_id: string): Promise<void> {
  session().send({ type: `${TRANSCRIPTION}.completed`, item_id })
  await client.event(`${TRANSCRIPTION}.completed`)
}

describe('the prompt of transcriptions', () => {
  const withPrompt = (prompt: string) => {
    const transcription = { model: TRANSCRIBER, prompt }
    const audio = { input: { turn_detection: null, transcription } }
    return { type: 'session.update', session: { type: 'realtime', audio } }
  }
  const hold = async () => {
    const events = await rig.eventsOf(accountStream(USER))
    const last = events.findLast(({ type }) => type === 'CallAdmitted' || type === 'HoldRaised')
    return Number((last?.data as { readonly hold: number } | undefined)?.hold)
  }

  it('is part of the hold once for each transcription', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    client.send(withPrompt('x'.repeat(1_000)))
    await client.event('session.updated')
    client.send(audio(3))
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    const first = await hold()
    for (let at = 0; at < 2; at += 1) client.send(audio(3))
    for (let at = 0; at < 2; at += 1) client.send(COMMIT)
    client.send(audio(3))
    await expect.poll(() => sent('append')).toBe(4)
    expect((await hold()) - first).toBeGreaterThanOrEqual(2 * 1_000 * 1.25)
  })

  it('is refused if it is longer than the provider accepts', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    client.send(withPrompt('x'.repeat(1_025)))
    expect((await client.event('error')).error).toMatchObject({
      ...{ code: 'string_above_max_length', param: 'session.audio.input.transcription.prompt' },
    })
    client.send(withPrompt('x'.repeat(1_024)))
    await client.event('session.updated')
    expect(client.closed).toBe(null)
  })

  it('is charged with each transcription whose usage is missing', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    client.send(withPrompt('x'.repeat(1_000)))
    await client.event('session.updated')
    for (const id of ['item_1', 'item_2']) {
      client.send(audio(4_800))
      client.send(COMMIT)
      await expect.poll(() => sent('commit')).toBe(id === 'item_1' ? 1 : 2)
      await committed(client, id)
      await completed(client, id)
    }
    const texts = (await bills(rig)).map(({ usage }) => usage.inputUncached)
    expect(texts).toEqual([251, 251])
  })
})

describe('audio that is cleared', () => {
  const clear = { type: 'input_audio_buffer.clear' }

  async function cleared(): Promise<RealtimeClient> {
    const client = await transcribingSession(rig.url)
    client.send(audio(960_000))
    client.send(clear)
    await expect.poll(() => sent('clear')).toBe(1)
    return client
  }

  it('is not charged with the next item', async () => {
    const client = await cleared()
    session().send({ type: 'input_audio_buffer.cleared' })
    client.send(audio(4_800))
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    await committed(client, 'item_1')
    await completed(client, 'item_1')
    expect(await audioTokens()).toEqual([1])
    expect(await openCalls(rig)).toBe(0)
  })

  it('is charged if the provider refuses to clear it', async () => {
    const client = await cleared()
    const [event] = session().events.filter(({ type }) => type === clear.type)
    session().send({ type: 'error', error: { message: 'No.', event_id: event?.event_id } })
    await client.event('error')
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    await committed(client, 'item_1')
    await completed(client, 'item_1')
    expect(await audioTokens()).toEqual([200])
  })

  it('is charged if speech detection commits it before it is cleared', async () => {
    const client = await cleared()
    speech('started', 'item_1', { audio_start_ms: 0 })
    speech('stopped', 'item_1', { audio_end_ms: 10_000 })
    await committed(client, 'item_1')
    session().send({ type: 'input_audio_buffer.cleared' })
    await completed(client, 'item_1')
    expect(await audioTokens()).toEqual([100])
  })

  it('is not input of a response', async () => {
    provider.onEvent = ({ type }) => type === 'response.create'
    const client = await cleared()
    session().send({ type: 'input_audio_buffer.cleared' })
    await client.event('input_audio_buffer.cleared')
    client.send({ type: 'response.create' })
    await expect.poll(() => session().typesOf('response.create')).toHaveLength(1)
    client.socket.terminate()
    await expect.poll(audioTokens).toEqual([0])
  })
})

describe('turns of speech', () => {
  it('in one burst of audio are each charged for their own audio', async () => {
    const client = await transcribingSession(rig.url)
    client.send(audio(960_000))
    await expect.poll(() => sent('append')).toBe(1)
    const turns = { item_1: [1_000, 6_000], item_2: [8_000, 20_000] }
    for (const [id, [audio_start_ms, audio_end_ms]] of Object.entries(turns)) {
      speech('started', id, { audio_start_ms })
      speech('stopped', id, { audio_end_ms })
      await committed(client, id)
    }
    for (const id of Object.keys(turns)) await completed(client, id)
    expect(await audioTokens()).toEqual([50, 120])
    expect(await openCalls(rig)).toBe(0)
  })

  it('that are silences after which the provider speaks have their own audio', async () => {
    const client = await transcribingSession(rig.url)
    client.send(audio(960_000))
    await expect.poll(() => sent('append')).toBe(1)
    const silence = { item_id: 'item_1', audio_start_ms: 2_000, audio_end_ms: 7_000 }
    session().send({ type: 'input_audio_buffer.timeout_triggered', ...silence })
    await committed(client, 'item_1')
    await completed(client, 'item_1')
    expect(await audioTokens()).toEqual([50])
  })

  it('leave the rest of the audio to a commit of the caller', async () => {
    const client = await transcribingSession(rig.url)
    client.send(audio(960_000))
    client.send(COMMIT)
    await expect.poll(() => sent('commit')).toBe(1)
    speech('started', 'item_1', { audio_start_ms: 0 })
    speech('stopped', 'item_1', { audio_end_ms: 15_000 })
    await committed(client, 'item_1')
    await committed(client, 'item_2')
    for (const id of ['item_1', 'item_2']) await completed(client, id)
    expect(await audioTokens()).toEqual([150, 50])
  })
})

it.each([
  ['deltas', 'delta', 'delta'],
  ['segments', 'segment', 'text'],
])('%s of an item that is not yet committed are charged', async (_name, type, member) => {
  const client = await transcribingSession(rig.url)
  client.send(audio(48_000))
  await expect.poll(() => sent('append')).toBe(1)
  const text = { [member]: 'Hello there, '.repeat(40) }
  session().send({ type: `${TRANSCRIPTION}.${type}`, item_id: 'item_1', ...text })
  await client.event(`${TRANSCRIPTION}.${type}`)
  client.socket.close()
  const usages = async () => (await bills(rig)).map(({ usage }) => usage)
  await expect.poll(usages).toMatchObject([{ inputAudio: 10, output: 130 }])
})

it('a transcription much longer than its audio ends the session and is charged', async () => {
  const client = await transcribingSession(rig.url)
  client.send(audio(4_800))
  client.send(COMMIT)
  await expect.poll(() => sent('commit')).toBe(1)
  await committed(client, 'item_1')
  const delta = 'Hello there, '.repeat(50)
  for (let n = 0; n < 200; n += 1) {
    session().send({ type: `${TRANSCRIPTION}.delta`, item_id: 'item_1', content_index: 0, delta })
  }
  expect((await client.event('error')).error).toMatchObject({ code: 'output_limit_ignored' })
  expect(await client.isClosed()).toBe(1011)
  await expect.poll(() => bills(rig)).toHaveLength(1)
  const [bill] = await bills(rig)
  expect(bill?.usage.output).toBeGreaterThan(1_024)
  expect(bill?.attempts).toMatchObject([{ error: 'over-limit' }])
  expect(await openCalls(rig)).toBe(0)
})

it.each<[string, readonly { type: string; [name: string]: string }[]]>([
  [
    'pieces',
    [
      { type: `${TRANSCRIPTION}.delta`, item_id: 'item_1', delta: 'A for' },
      { type: `${TRANSCRIPTION}.delta`, item_id: 'item_2', delta: 'bidden' },
      { type: `${TRANSCRIPTION}.delta`, item_id: 'item_1', delta: 'bidden word.' },
    ],
  ],
  ['a segment', [{ type: `${TRANSCRIPTION}.segment`, item_id: 'item_1', text: 'Forbidden.' }]],
  [
    'a completed transcription',
    [{ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', transcript: 'A forbidden word.' }],
  ],
])('a screened word in %s of a transcription ends the session', async (_where, events) => {
  await stopAnswersWith(rig, 'forbidden')
  const client = await twoCommits()
  await committed(client, 'item_1')
  await committed(client, 'item_2')
  for (const event of events) session().send(event)
  for (const { type } of events.slice(0, -1)) await client.event(type)
  expect((await client.event('error')).error).toMatchObject({ code: 'sensitive_answer' })
  expect(client.events.map(({ type }) => type)).not.toContain(events.at(-1)?.type)
  await expect.poll(async () => (await audioTokens()).reduce((sum, one) => sum + one, 0)).toBe(201)
  expect(await openCalls(rig)).toBe(0)
})
