import { beforeEach, expect, it } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { appendTo } from '#test/projections/fixture.ts'
import { accepted, aDrawing, failed, submitted } from '#test/projections/task-facts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
let channelId: number
let count = 0

const recordOf = async () => {
  const { channels } = await fixture.core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  return channels.get(channelId)
}
const refs = async (): Promise<readonly string[]> => (await recordOf())?.keyRefs ?? []
const put = (body: object) =>
  fixture.admin.call('PUT', '/api/channel/', {
    body: { id: channelId, ...body },
    headers: { 'accept-language': 'en' },
  })
const channelWith = async (key: string) => {
  const body = { name: 'c', key, models: 'm', multi_key_mode: 'random', mode: 'multi_to_single' }
  channelId = (await fixture.admin.call<{ id: number }>('POST', '/api/channel/', { body })).data.id
}

/** An unfinished task that was submitted with the key. */
async function taskWith(keyRef: string | undefined) {
  count += 1
  const task = aDrawing(`task-of-key-${count}`, 7)
  const place = { channelId, keyRef: keyRef ?? '', upstreamId: 'up' }
  await appendTo(fixture.core.store, [submitted(task), accepted(task, place)])
  return () => appendTo(fixture.core.store, [failed(task, { channelId })])
}

beforeEach(() => channelWith('sk-one\nsk-two\nsk-three'))

it('a key that is entered again keeps its reference, in the new order', async () => {
  const [one, two, three] = await refs()
  expect(await put({ key: 'sk-three\nsk-four\nsk-one' })).toMatchObject({ success: true })
  const [first, second, third, ...others] = await refs()
  expect([first, third, others]).toEqual([three, one, []])
  expect([one, two, three]).not.toContain(second)
})

it('a key that is entered again is used again', async () => {
  const keyRef = (await refs())[1]
  const data = { channelId, keyRef, reason: '401' }
  const fact = { stream: CHANNELS_STREAM, type: 'ChannelKeySetAside', v: 1, data }
  await appendTo(fixture.core.store, [fact])
  expect((await recordOf())?.setAside).toEqual([keyRef])
  expect(await put({ key: 'sk-one\nsk-two' })).toMatchObject({ success: true })
  expect((await recordOf())?.setAside).toEqual([])
})

it('a key that unfinished work needs is removed from several only by force', async () => {
  const [, two] = await refs()
  const end = await taskWith(two)
  const refused = await put({ key: 'sk-one\nsk-three' })
  expect(refused).toMatchObject({ status: 409, success: false, code: 'WorkInFlight' })
  expect(refused.message).toContain('tasks: 1, batches: 0')
  expect(await refs()).toContain(two)
  expect(await put({ key: 'sk-one\nsk-two' })).toMatchObject({ success: true })
  expect(await put({ key: 'sk-one\nsk-three', force: true })).toMatchObject({ success: true })
  expect(await refs()).not.toContain(two)
  await end()
})

it('a key without unfinished work is removed, and further keys are added', async () => {
  const end = await taskWith((await refs())[0])
  expect(await put({ key: 'sk-four', key_mode: 'append' })).toMatchObject({ success: true })
  expect(await put({ key: 'sk-one\nsk-four' })).toMatchObject({ success: true })
  await end()
})

it('the only key of a channel may be renewed, but not together with the address', async () => {
  await channelWith('sk-single')
  const [only] = await refs()
  const end = await taskWith(only)
  const moved = { key: 'sk-single', base_url: 'https://other.example' }
  expect(await put(moved)).toMatchObject({ status: 409, code: 'WorkInFlight' })
  expect(await refs()).toEqual([only])
  expect(await put({ key: 'sk-renewed' })).toMatchObject({ success: true })
  expect(await refs()).not.toContain(only)
  await end()
})

it('a key that is entered again for another address is stored again', async () => {
  const before = await refs()
  const moved = { key: 'sk-one\nsk-two\nsk-three', base_url: 'https://other.example' }
  expect(await put(moved)).toMatchObject({ success: true })
  const after = await refs()
  expect(after).toHaveLength(3)
  expect(after.filter((ref) => before.includes(ref))).toEqual([])
})
