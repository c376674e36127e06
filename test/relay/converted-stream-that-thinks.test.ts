import { expect, it, type TestContext } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { FORMATS, MODEL, sendQuestion, textIn } from './clients/caller-formats.ts'
import { changingProvider } from './clients/changing-provider.ts'
import { CHARGES, SENTENCE } from './clients/provider-families.ts'
import { onlyEnd, relayRig } from './support/relay-rig.ts'

// The provider has this time for its first event, too, so a busy machine must not exceed it.
const FIRST_EVENT_MS = 4_000

/** Starts a provider and a relay for one test. The tests run at once, because they mostly wait. */
async function startSite({ onTestFinished }: TestContext) {
  const provider = await changingProvider()
  onTestFinished(() => provider.close())
  const rig = await relayRig({ deadlines: { firstEventMs: FIRST_EVENT_MS } })
  onTestFinished(() => rig.close())
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, {
    ...{ type: 1, baseUrl: provider.url, models: [MODEL] },
    setting: JSON.stringify({ responses_models: [MODEL] }),
  })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  return { provider, rig }
}

// The first event of a response, after which a model may think in silence, is no event in the other
// formats. Such a stream would be sent to the next channel, and the provider would charge for both.
it.concurrent.for(FORMATS)(
  'a response that begins and then thinks reaches a caller of $name',
  async (format, test) => {
    const { expect } = test
    const { provider, rig } = await startSite(test)
    provider.respond = async (response, { type, bytes }) => {
      const begun = bytes.indexOf('\n\n') + 2
      response.writeHead(200, { 'content-type': type }).write(bytes.subarray(0, begun))
      const at = performance.now()
      await expect
        .poll(() => performance.now() - at, { timeout: 20_000 })
        .toBeGreaterThan(FIRST_EVENT_MS + 1_000)
      response.end(bytes.subarray(begun))
    }
    const answer = await sendQuestion(rig.url, format, true)
    expect(textIn(await answer.text(), format)).toBe(SENTENCE)
    expect(provider.requests).toHaveLength(1)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGES.text, end: 'done' })
  },
)

// Proxies in front of the gateway give up a call whose head takes longer than about a minute.
it.concurrent.for(FORMATS.filter(({ name }) => name !== 'Gemini'))(
  'a caller of $name gets the head of the response when the model begins to think',
  async (format, test) => {
    const { provider, rig } = await startSite(test)
    const { promise: isThinking, resolve: answer } = Promise.withResolvers<void>()
    provider.respond = async (response, { type, bytes }) => {
      const added = bytes.indexOf('event: response.output_item.added')
      const begun = bytes.indexOf('\n\n', added) + 2
      response.writeHead(200, { 'content-type': type }).write(bytes.subarray(0, begun))
      await isThinking
      response.end(bytes.subarray(begun))
    }
    const response = await sendQuestion(rig.url, format, true)
    expect(response.status).toBe(200)
    answer()
    expect(textIn(await response.text(), format)).toBe(SENTENCE)
  },
)
