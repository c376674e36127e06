import { beforeEach, describe, expect, it } from 'vitest'
import { accountStream } from '#domain/accounts/events.ts'
import { RealtimeClient } from '../support/realtime-client.ts'
import type { ProviderSession } from '../support/realtime-provider.ts'
import {
  audio,
  bills,
  MODEL,
  openCalls,
  realtimeSite,
  sessionWithoutSpeech,
  TRANSCRIBER,
  TRANSCRIPTION,
} from '../support/realtime-site.ts'
import { TOKEN, USER } from '../support/relay-rig.ts'

/** In no test of this file does a usage arrive after the caller has left. */
const { provider, rig, session } = realtimeSite({ deadlines: { lastUsageMs: 200 } })
const OTHER = 'whisper-1'
const G711 = { type: 'audio/pcmu' }

const update = (input: object, others: object = {}) => ({
  type: 'session.update',
  session: { type: 'realtime', audio: { input: { turn_detection: null, ...input } }, ...others },
})
const ON = update({ transcription: { model: TRANSCRIBER } })
const commits = () => session().typesOf('input_audio_buffer.commit').length
const charged = async () =>
  (await bills(rig)).map(({ model, usage }) => [model, usage.inputAudio] as const)

/** Commits one second of audio. */
async function commit(client: RealtimeClient): Promise<void> {
  const before = commits()
  client.send(audio(48_000))
  client.send({ type: 'input_audio_buffer.commit' })
  await expect.poll(commits).toBe(before + 1)
}

async function transcribe(client: RealtimeClient, item_id = 'item_1'): Promise<void> {
  session().send({ type: 'input_audio_buffer.committed', item_id })
  session().send({ type: `${TRANSCRIPTION}.completed`, item_id, transcript: 'Yes' })
  await client.event(`${TRANSCRIPTION}.completed`)
}

/** Holds back the answers to changes of the settings until `answer` is called. */
function undecided() {
  let waiting: (() => void)[] = []
  provider.onEvent = (event, to) => {
    if (event.type === 'session.update') waiting.push(() => to.answer(event, provider))
    return event.type === 'session.update'
  }
  return () => {
    for (const each of waiting) each()
    waiting = []
  }
}

function refuseUpdates(): void {
  provider.onEvent = ({ type, event_id }, to: ProviderSession) => {
    if (type === 'session.update') to.send({ type: 'error', error: { message: 'No.', event_id } })
    return type === 'session.update'
  }
}

describe('a change of the settings that the provider refuses', () => {
  it('leaves the format of the input as it was', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    client.send(ON)
    await client.event('session.updated')
    refuseUpdates()
    client.send(update({ format: G711 }))
    await client.event('error')
    await commit(client)
    await transcribe(client)
    expect(await charged()).toEqual([[TRANSCRIBER, 10]])
  })

  it('leaves the output limit as it was, although the gateway had lowered it', async () => {
    const client = await new RealtimeClient(rig.url, MODEL).open()
    client.send(audio(3))
    await expect.poll(() => session().typesOf('input_audio')).toHaveLength(1)
    await rig.setBudget(USER, TOKEN, 0n)
    provider.onEvent = ({ type }) => type === 'session.update'
    client.send({ type: 'session.update', session: { instructions: 'x'.repeat(3_000) } })
    await expect.poll(() => session().typesOf('session.update')).toHaveLength(2)
    const [, lowered] = session().events.filter(({ type }) => type === 'session.update')
    expect(lowered?.session).toHaveProperty('max_output_tokens')
    await rig.setBudget(USER, TOKEN, 10n ** 6n)
    session().send({ type: 'error', error: { message: 'No.', event_id: lowered?.event_id } })
    await client.event('error')
    const raised = async () =>
      (await rig.eventsOf(accountStream(USER))).filter(({ type }) => type === 'HoldRaised')
    await expect.poll(raised).toHaveLength(1)
  })
})

describe('a commit', () => {
  it('that was sent while transcription was off is free', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    await commit(client)
    client.send(ON)
    await client.event('session.updated')
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    await client.event('input_audio_buffer.committed')
    client.socket.close()
    await expect.poll(() => session().isClosed).toBe(true)
    expect(await charged()).toEqual([])
    expect(await openCalls(rig)).toBe(0)
  })

  it('that was sent after a change that is still undecided is charged by it', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    const answer = undecided()
    client.send(ON)
    await commit(client)
    expect(await openCalls(rig)).toBe(1)
    answer()
    await client.event('session.updated')
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    await client.event('input_audio_buffer.committed')
    client.socket.close()
    await expect.poll(charged).toEqual([[TRANSCRIBER, 10]])
    expect(await openCalls(rig)).toBe(0)
  })

  it('that was sent after a refused change is charged by the settings before', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    client.send(ON)
    await client.event('session.updated')
    let refuse = () => {}
    provider.onEvent = ({ type, event_id }, to) => {
      refuse = () => to.send({ type: 'error', error: { message: 'No.', event_id } })
      return type === 'session.update'
    }
    client.send(update({ transcription: null }))
    await expect.poll(() => session().typesOf('session.update')).toHaveLength(4)
    const refuseUpdate = refuse
    await commit(client)
    refuseUpdate()
    await client.event('error')
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    await client.event('input_audio_buffer.committed')
    client.socket.close()
    await expect.poll(charged).toEqual([[TRANSCRIBER, 10]])
    expect(await openCalls(rig)).toBe(0)
  })
})

it('a transcription has the price that is in force when its call is admitted', async () => {
  const client = await sessionWithoutSpeech(rig.url)
  client.send(ON)
  await client.event('session.updated')
  await rig.setOption('ModelRatio', { [MODEL]: 2.5, [TRANSCRIBER]: 5 })
  await commit(client)
  await transcribe(client)
  const [bill] = await bills(rig)
  expect(bill?.price).toMatchObject({ model: '5' })
})

describe('settings that the provider names', () => {
  beforeEach(() => rig.setOption('ModelRatio', { [MODEL]: 2.5, [TRANSCRIBER]: 1.25, [OTHER]: 3 }))

  it('of a session that begins with transcriptions are charged', async () => {
    const input = { turn_detection: null, transcription: { model: OTHER }, format: G711 }
    provider.settings = { audio: { input } }
    const client = await new RealtimeClient(rig.url, MODEL).open()
    await commit(client)
    await transcribe(client)
    expect(await charged()).toEqual([[OTHER, 60]])
  })

  it('replace the requested model and format', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    provider.onEvent = ({ type }, to) => {
      const input = { transcription: { model: OTHER }, format: { type: 'audio/pcm', rate: 8_000 } }
      if (type === 'session.update')
        to.send({ type: 'session.updated', session: { audio: { input } } })
      return type === 'session.update'
    }
    client.send(ON)
    await client.event('session.updated')
    await commit(client)
    await transcribe(client)
    expect(await charged()).toEqual([[OTHER, 30]])
  })

  it('with a dated name of the requested model keep its price', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    provider.onEvent = ({ type }, to) => {
      const input = { transcription: { model: `${TRANSCRIBER}-2025-03-20` } }
      if (type === 'session.update')
        to.send({ type: 'session.updated', session: { audio: { input } } })
      return type === 'session.update'
    }
    client.send(ON)
    await client.event('session.updated')
    await commit(client)
    await transcribe(client)
    expect(await charged()).toEqual([[TRANSCRIBER, 10]])
  })
})
