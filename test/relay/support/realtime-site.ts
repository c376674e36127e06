import { beforeEach } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { RelayOverrides } from '#relay/start-relay.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { RealtimeClient } from './realtime-client.ts'
import {
  type ProviderSession,
  type RealtimeProvider,
  realtimeProvider,
} from './realtime-provider.ts'
import { type RelayRig, relayRig } from './relay-rig.ts'

export const MODEL = 'gpt-realtime'
export const TRANSCRIBER = 'gpt-4o-transcribe'
/** The type of the events about transcriptions, without its last part. */
export const TRANSCRIPTION = 'conversation.item.input_audio_transcription'
export const COMMIT = { type: 'input_audio_buffer.commit' }
/** The shortest audio, with three bytes. */
export const AUDIO = { type: 'input_audio_buffer.append', audio: 'AAAA' }

/** Returns the event that sends so many bytes of silence, of which 4 800 are one token. */
export const audio = (bytes: number) => ({
  type: 'input_audio_buffer.append',
  audio: Buffer.alloc(bytes).toString('base64'),
})

/**
 * Starts a provider of the Realtime API and a relay with a channel of it before each test of a
 * file. `session` returns the provider's side of the first session of the test.
 */
export function realtimeSite(overrides: RelayOverrides = {}) {
  const provider = startedForEach(realtimeProvider)
  const rig = startedForEach(() => relayRig(overrides))
  beforeEach(() => addRealtimeChannel(rig, provider))
  const session = (): ProviderSession => {
    const [first] = provider.sessions
    if (first === undefined) throw new Error('the provider has no session')
    return first
  }
  return { provider, rig, session, connect: () => new RealtimeClient(rig.url, MODEL).open() }
}

/** Adds a channel with a realtime endpoint, and the prices of worked case 6. */
export async function addRealtimeChannel(rig: RelayRig, provider: RealtimeProvider) {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 8, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 2.5, [TRANSCRIBER]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4, [TRANSCRIBER]: 4 })
  await rig.setOption('AudioRatio', { [MODEL]: 8, [TRANSCRIBER]: 2 })
  await rig.setOption('AudioCompletionRatio', { [MODEL]: 2 })
}

const NO_SPEECH = { type: 'realtime', audio: { input: { turn_detection: null } } }

/** Opens a session in which only requests begin responses. */
export async function sessionWithoutSpeech(url: string): Promise<RealtimeClient> {
  const client = await new RealtimeClient(url, MODEL).open()
  client.send({ type: 'session.update', session: NO_SPEECH })
  await client.event('session.updated')
  return client
}

/** Opens a session in which only requests begin responses, and whose input is transcribed. */
export async function transcribingSession(url: string): Promise<RealtimeClient> {
  const client = await sessionWithoutSpeech(url)
  const input = { turn_detection: null, transcription: { model: TRANSCRIBER } }
  client.send({ type: 'session.update', session: { type: 'realtime', audio: { input } } })
  await client.event('session.updated')
  return client
}

export const bills = async (rig: RelayRig) =>
  (await rig.callEvents()).flatMap((event) => (event.type === 'CallSettled' ? [event.data] : []))

export const callTypes = async (rig: RelayRig) => (await rig.callEvents()).map(({ type }) => type)

/** The number of admitted calls that have no end. */
export async function openCalls(rig: RelayRig): Promise<number> {
  const types = await callTypes(rig)
  const admitted = types.filter((type) => type === 'CallAdmitted').length
  const isEnd = (type: string) => /^Call(?:Settled|Released|Interrupted)$/.test(type)
  return admitted - types.filter(isEnd).length
}
