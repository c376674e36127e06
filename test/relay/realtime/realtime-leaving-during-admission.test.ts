import { beforeEach, describe, expect, it, vi } from 'vitest'
import { RunningCallCount } from '#relay/limits/limits-on-running-calls.ts'
import { InputTranscriptionBilling } from '#relay/realtime/input-transcription-billing.ts'
import { RealtimeSession } from '#relay/realtime/realtime-session.ts'
import { ResponseBilling } from '#relay/realtime/response-billing.ts'
import { RealtimeClient } from '../support/realtime-client.ts'
import { CHARGE } from '../support/realtime-provider.ts'
import {
  AUDIO,
  bills,
  callTypes,
  MODEL,
  openCalls,
  realtimeSite,
  sessionWithoutSpeech,
  transcribingSession,
} from '../support/realtime-site.ts'

const { provider, rig, session } = realtimeSite()
const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed'
let running: () => number

beforeEach(async () => {
  const enter = vi.spyOn(RunningCallCount.prototype, 'enter')
  const release = vi.spyOn(RunningCallCount.prototype, 'release')
  running = () =>
    enter.mock.results.filter(({ value }) => value === true).length - release.mock.calls.length
})

/** Holds back all writes with an event of this type until `open` is called. */
function holdBack(type: string) {
  const gate = Promise.withResolvers<void>()
  const held = { count: 0, open: () => gate.resolve() }
  const append = rig.core.store.append.bind(rig.core.store)
  rig.core.store.append = async (writes) => {
    if (JSON.stringify(writes, plain).includes(`"${type}"`)) {
      held.count += 1
      await gate.promise
    }
    return append(writes)
  }
  return held
}

const plain = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value

/** Disconnects the client, and waits until the relay has noticed. */
async function leave(client: RealtimeClient): Promise<void> {
  const end = vi.spyOn(RealtimeSession.prototype, 'end')
  client.socket.terminate()
  await expect.poll(() => end.mock.calls.length).toBeGreaterThan(0)
}

describe('a caller who leaves while a call is being admitted', () => {
  it('leaves no permit and no hold of a requested response behind', async () => {
    await rig.setOption('RateLimitsByModel', { [MODEL]: { concurrency: 1 } })
    const client = await sessionWithoutSpeech(rig.url)
    const held = holdBack('CallAdmitted')
    client.send({ type: 'response.create' })
    await expect.poll(() => held.count).toBe(1)
    await leave(client)
    held.open()
    await expect.poll(() => callTypes(rig)).toEqual(['CallAdmitted', 'CallReleased'])
    await expect.poll(running).toBe(0)
    expect(session().typesOf('response.create')).toEqual([])
    const other = await sessionWithoutSpeech(rig.url)
    other.send({ type: 'response.create' })
    await other.event('response.done')
  })

  it('is charged for a response that the provider has already begun', async () => {
    await rig.setOption('RateLimitsByModel', { [MODEL]: { calls: 1 } })
    const client = await new RealtimeClient(rig.url, MODEL).open()
    client.send(AUDIO)
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
    session().respond(provider.usage)
    await client.event('response.done')
    const held = holdBack('CallAdmitted')
    session().begin()
    await expect.poll(() => held.count).toBe(1)
    await leave(client)
    held.open()
    await expect
      .poll(async () => (await bills(rig)).map(({ end }) => end))
      .toEqual(['done', 'client-gone'])
    await expect.poll(running).toBe(0)
    expect(await openCalls(rig)).toBe(0)
  })

  it('leaves no permit and no hold of a transcription behind', async () => {
    const client = await transcribingSession(rig.url)
    const held = holdBack('CallAdmitted')
    client.send(AUDIO)
    await expect.poll(() => held.count).toBe(1)
    await leave(client)
    held.open()
    await expect.poll(() => callTypes(rig)).toEqual(['CallAdmitted', 'CallReleased'])
    await expect.poll(running).toBe(0)
    expect(session().typesOf('input_audio')).toEqual([])
  })
})

it('audio that arrives while a transcription is charged is covered by one call', async () => {
  const client = await transcribingSession(rig.url)
  const cover = vi.spyOn(InputTranscriptionBilling.prototype, 'cover')
  client.send(AUDIO)
  await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
  session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
  await client.event('input_audio_buffer.committed')
  const held = holdBack('CallSettled')
  session().send({ type: TRANSCRIBED, item_id: 'item_1', content_index: 0, transcript: 'Hi.' })
  await expect.poll(() => held.count).toBe(1)
  client.send(AUDIO)
  await expect.poll(() => cover.mock.calls.length).toBe(2)
  held.open()
  await client.event(TRANSCRIBED)
  await expect.poll(() => session().typesOf('input_audio')).toHaveLength(2)
  await leave(client)
  await expect.poll(() => openCalls(rig)).toBe(0)
  await expect.poll(running).toBe(0)
})

describe('a caller who leaves while a charge is being written', () => {
  /** Notes when a charge is durable and when the session has ended, in this order. */
  function orderOfEnd() {
    const order: string[] = []
    const append = rig.core.store.append.bind(rig.core.store)
    rig.core.store.append = async (writes) => {
      const appended = await append(writes)
      if (JSON.stringify(writes, plain).includes('"CallSettled"')) order.push('charged')
      return appended
    }
    const end = vi.spyOn(RealtimeSession.prototype, 'end')
    const noteEnd = () =>
      void (end.mock.contexts[0] as RealtimeSession).ended.then(() => order.push('ended'))
    return { order, noteEnd }
  }

  it('ends the session only when the response is charged', async () => {
    const { order, noteEnd } = orderOfEnd()
    const client = await sessionWithoutSpeech(rig.url)
    const held = holdBack('CallSettled')
    client.send({ type: 'response.create' })
    await expect.poll(() => held.count).toBe(1)
    const endOfCalls = vi.spyOn(ResponseBilling.prototype, 'end')
    await leave(client)
    noteEnd()
    // The session stops waiting for the last event of the provider.
    await expect.poll(() => endOfCalls.mock.calls.length).toBe(1)
    held.open()
    await expect.poll(() => order).toEqual(['charged', 'ended'])
    expect(await bills(rig)).toMatchObject([{ end: 'done', charge: CHARGE }])
    expect(await openCalls(rig)).toBe(0)
  })

  it('ends the session only when the transcription is charged', async () => {
    const { order, noteEnd } = orderOfEnd()
    const client = await transcribingSession(rig.url)
    client.send(AUDIO)
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    await client.event('input_audio_buffer.committed')
    const held = holdBack('CallSettled')
    session().send({ type: TRANSCRIBED, item_id: 'item_1', content_index: 0, transcript: 'Hi.' })
    await expect.poll(() => held.count).toBe(1)
    const endOfCalls = vi.spyOn(InputTranscriptionBilling.prototype, 'end')
    await leave(client)
    noteEnd()
    await expect.poll(() => endOfCalls.mock.calls.length).toBe(1)
    held.open()
    await expect.poll(() => order).toEqual(['charged', 'ended'])
    expect(await openCalls(rig)).toBe(0)
  })
})
