import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { OPENAI_SPEECH } from '#relay/dialects/openai-audio/speech-request.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MINIMAX = 35
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

describe('a plain answer with status 200 that is an error in a format of its own', () => {
  beforeEach(async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.setOption('ModelRatio', { m: 1 })
    await rig.setOption('RetryTimes', '1')
    for (const channelId of [2, 3]) {
      await rig.addChannel(channelId, { type: MINIMAX, baseUrl: provider.url, models: ['m'] })
    }
  })

  const base_resp = { status_code: 1004, status_msg: 'login fail' }
  it.each([
    ['without the members of an answer', { base_resp }],
    ['with empty members', { choices: null, base_resp }],
    ['with a detail', { detail: 'not now' }],
  ])('costs nothing, and the next channel is tried: %s', async (_, body) => {
    provider.answers.set('*', { body })
    const before = await rig.balance()
    expect((await chat(rig, { model: 'm' })).status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
    expect(provider.requests).toHaveLength(2)
  })
})

describe('the stream_format of speech', () => {
  const read = (value: string) =>
    OPENAI_SPEECH.readRequest(
      Buffer.from(`{"model":"tts-1","input":"hello","stream_format":${value}}`),
      null,
    )

  it.each([
    ['"sse"', true],
    ['"\\u0073se"', true],
    ['"audio"', false],
    ['null', false],
  ])('%s is a stream: %s', (value, isStream) => {
    expect(read(value)).toMatchObject({ isStream })
  })

  it.each(['"SSE"', '"event-stream"', '""'])('%s is refused', (value) => {
    const request = read(value)
    expect(isRelayError(request) && JSON.stringify(request)).toMatch(
      /invalid_parameter.*stream_format/,
    )
  })
})
