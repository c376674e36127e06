import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { RealtimeClient } from './realtime-client.ts'
import type { RealtimeProvider } from './realtime-provider.ts'
import type { RelayRig } from './relay-rig.ts'

export const MODEL = 'gpt-realtime'
export const TRANSCRIBER = 'gpt-4o-transcribe'

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
