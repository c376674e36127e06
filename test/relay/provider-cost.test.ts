import { beforeEach, expect, it } from 'vitest'
import type { ChannelEvent } from '#domain/channels/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)
beforeEach(async () => {
  await rig.setOption('GroupRatio', { default: 1.5 })
})

/** 5 tokens in, 4 out: 26.25 quota at list price, 39.375 for the group. */
const call = (body: object = {}) => chat(rig, { max_tokens: 4, ...body })

async function setRatio(channelId: number, costRatio: string): Promise<void> {
  const events = (await rig.core.store.readStream(CHANNELS_STREAM)) as Recorded<ChannelEvent>[]
  for (const { type, data } of events) {
    const created = type === 'ChannelsCreated' ? data.channels[0] : undefined
    if (type !== 'ChannelsCreated' || created?.channelId !== channelId) continue
    const { keyMode, terms } = data
    const { keyRefs } = created
    await rig.append(CHANNELS_STREAM, {
      type: 'ChannelTermsChanged',
      v: 1,
      data: { channelId, terms: { ...terms, costRatio }, keyRefs, keyMode, droppedKeyRefs: [] },
    })
  }
}

it('the cost is the list price × the ratio of the answering channel, for any group', async () => {
  await rig.addChannel(2, { priority: 2, costRatio: '0.1' })
  await rig.addChannel(3, { priority: 1, costRatio: '0.6' })
  await rig.setOption('RetryTimes', '1')
  rig.provider.script.push({ kind: 'status', status: 503 })
  expect((await call()).status).toBe(200)
  const { data } = await onlyEnd(rig)
  expect(data).toMatchObject({ channelId: 3, charge: 39, cost: 16, costRatio: '0.6' })
})

it('the call event has no cost if the channel has no cost ratio', async () => {
  await call()
  const { data } = await onlyEnd(rig)
  expect(data).toMatchObject({ channelId: 1, charge: 39 })
  expect(JSON.stringify(data)).not.toMatch(/cost/)
})

it('the cost uses the ratio at the time the call was sent, even if it changed since', async () => {
  await rig.addChannel(2, { priority: 1, costRatio: '0.6' })
  rig.provider.script.push({ kind: 'slow', msPerChunk: 40 })
  const answer = call({ stream: true })
  await expect.poll(() => rig.provider.journal.count).toBe(1)
  await setRatio(2, '9')
  expect((await answer).status).toBe(200)
  expect((await onlyEnd(rig)).data).toMatchObject({ cost: 16, costRatio: '0.6' })
})
