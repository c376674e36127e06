import { expect, it } from 'vitest'
import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { actionsSite } from '../support/channel-actions-site.ts'

const site = startedOnce(actionsSite)

const GOOD = { body: { choices: [{ message: { content: 'hi' } }], usage: {} } }

it('a successful test closes the circuits of the channel, its model and its key', async () => {
  site.scripted.answers.set('POST /v1/chat/completions', GOOD)
  const id = await site.channel({ models: 'sim-small,other' })
  const { actors } = site.product.running.core
  const { channels } = await actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const keyRef = channels.get(id)?.keyRefs[0] ?? ''
  const at = Date.now()
  const open = (model: string | null, ofKey: string | null) =>
    actors.handle(
      channelHealthDecider,
      channelHealthStream(id),
      {
        ...{ type: 'OpenCircuit', reason: 'timeout', failures: 5, prober: null, at },
        scope: { channelId: id, model, keyRef: ofKey },
        cooldown: { baseMs: 600_000, maxMs: 600_000, jitter: 0, retryAfterMs: 0 },
      },
      { actor: 'system:relay', cause: null, at },
    )
  for (const [model, ofKey] of [
    [null, null],
    ['sim-small', null],
    ['other', null],
    [null, keyRef],
  ] as const) {
    await open(model, ofKey)
  }
  const left = async () => {
    await site.ask(`/api/channel/test/${id}`)
    const circuits = await actors.stateOf(channelHealthDecider, channelHealthStream(id))
    return [...circuits.values()].map(({ scope }) => scope.model)
  }
  await expect.poll(left).toEqual(['other'])
})
