import { beforeEach, describe, expect, it, vi } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { appendTo } from '#test/projections/fixture.ts'
import { accepted, aDrawing, failed, routed, submitted } from '#test/projections/task-facts.ts'
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

const batchFact = (batch: string, type: string, data: object) => ({
  ...{ stream: `batch-${batch}`, type, v: 1, data: { batch, userId: 7, ...data } },
})
/** The key of a batch is chosen after the batch was recorded. */
const batchSubmitted = (batch: string) => {
  const submission = { tokenId: 1, group: 'default', api: 'openai', channelId, lines: 1, parts: [] }
  return batchFact(batch, 'BatchSubmitted', { ...submission, submittedAt: 0 })
}
const batchEnded = (batch: string) =>
  batchFact(batch, 'BatchEnded', { cause: 'refused', billedLines: 0, endedAt: 0 })

/** An unfinished batch that was submitted with the key. */
async function batchWith(keyRef: string | undefined) {
  count += 1
  const batch = `batch-of-key-${count}`
  const place = { channelId, keyRef: keyRef ?? '', upstreamId: 'up' }
  const accepted = batchFact(batch, 'BatchAccepted', place)
  await appendTo(fixture.core.store, [batchSubmitted(batch), accepted])
  return () => appendTo(fixture.core.store, [batchEnded(batch)])
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

it('a key is not removed while a task or a batch may be sent with it', async () => {
  const [one, two] = await refs()
  count += 1
  const task = aDrawing(`task-under-way-${count}`, 7)
  const batch = `batch-under-way-${count}`
  const without = { key: 'sk-one\nsk-three' }
  const place = { channelId, keyRef: two ?? '' }
  await appendTo(fixture.core.store, [submitted(task), routed(task, place)])
  expect(await put(without)).toMatchObject({ status: 409, code: 'WorkInFlight' })
  await appendTo(fixture.core.store, [routed(task, { channelId, keyRef: one ?? '' })])
  await appendTo(fixture.core.store, [batchSubmitted(batch)])
  expect((await put(without)).message).toContain('tasks: 0, batches: 1')
  expect(await refs()).toContain(two)
  await appendTo(fixture.core.store, [batchEnded(batch)])
  expect(await put(without)).toMatchObject({ success: true })
  expect(await refs()).not.toContain(two)
  expect((await recordOf())?.pause).toBeUndefined()
  await appendTo(fixture.core.store, [failed(task, { channelId })])
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

describe('work whose key was renewed', () => {
  const OTHER_URL = 'https://other.example'

  it.each(['task', 'batch'] as const)('keeps a %s from another address', async (kind) => {
    await channelWith('sk-single')
    const [only] = await refs()
    const end = kind === 'task' ? await taskWith(only) : await batchWith(only)
    expect(await put({ key: 'sk-renewed' })).toMatchObject({ success: true })
    const moved = { key: 'sk-third', base_url: OTHER_URL }
    expect(await put(moved)).toMatchObject({ status: 409, code: 'WorkInFlight' })
    await end()
    expect(await put(moved)).toMatchObject({ success: true })
  })

  it.each(['task', 'batch'] as const)('keeps the renewed key for a %s', async (kind) => {
    await channelWith('sk-single')
    const [only] = await refs()
    const end = kind === 'task' ? await taskWith(only) : await batchWith(only)
    expect(await put({ key: 'sk-renewed' })).toMatchObject({ success: true })
    expect(await put({ key: 'sk-third', key_mode: 'append' })).toMatchObject({ success: true })
    const without = { key: 'sk-third' }
    expect(await put(without)).toMatchObject({ status: 409, code: 'WorkInFlight' })
    await end()
    expect(await put(without)).toMatchObject({ success: true })
  })
})

it('an admin who renews the only key is told what unfinished work needs it', async () => {
  await channelWith('sk-only')
  expect((await put({ key: 'sk-second' })).message).toBe('')
  const [only] = await refs()
  const ends = [await taskWith(only), await batchWith(only)]
  // The read models may apply the events a moment later.
  let n = 0
  const message = async () => {
    n += 1
    return (await put({ key: `sk-renewed-${n}` })).message
  }
  await expect.poll(message).toContain('tasks: 1, batches: 1')
  expect((await put({ key: `sk-renewed-${n}` })).message).toBe('')
  expect((await put({ name: 'other' })).message).toBe('')
  for (const end of ends) await end()
})

it('a key that is entered again for another address is stored again', async () => {
  const before = await refs()
  const moved = { key: 'sk-one\nsk-two\nsk-three', base_url: 'https://other.example' }
  expect(await put(moved)).toMatchObject({ success: true })
  const after = await refs()
  expect(after).toHaveLength(3)
  expect(after.filter((ref) => before.includes(ref))).toEqual([])
})

/** Runs work after the entered keys were compared, and before the change is written. */
const whenKeysAreStored = (work: () => Promise<unknown>) => {
  const { vault } = fixture.core
  const putSecret = vault.putSecret.bind(vault)
  const spy = vi.spyOn(vault, 'putSecret')
  spy.mockImplementation(async (...of) => {
    spy.mockRestore()
    await work()
    return putSecret(...of)
  })
}

it('keys are not replaced if the pause of submissions ended while they were stored', async () => {
  const before = await refs()
  const ahead = fixture.clock.ahead
  whenKeysAreStored(async () => {
    fixture.clock.ahead += 60_000
  })
  const refused = await put({ key: 'sk-one\nsk-four' })
  fixture.clock.ahead = ahead
  expect(refused).toMatchObject({ status: 409, code: 'SubmissionsNotPaused' })
  expect(await refs()).toEqual(before)
  expect((await recordOf())?.pause).toBeUndefined()
})

describe('keys that another process changes at the same time', () => {
  const secretsOf = async () => {
    const text = 'select count(*)::int as n from vault.secrets where owner = $1'
    return (await fixture.core.pg.query(text, [`channel:${channelId}`])).rows[0].n as number
  }
  const changeKeys = (keys: readonly string[], isAppended: boolean) => {
    const change = { type: 'ChangeTerms', channelId, change: {}, keyMode: null } as const
    const command = { ...change, keys: { refs: keys, isAppended } }
    const context = { actor: 'user:1', cause: null, at: fixture.core.now() }
    return fixture.core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  }

  it.each([
    ['all keys', { key: 'sk-one\nsk-two\nsk-three\nsk-four' }],
    ['further keys', { key: 'sk-four', key_mode: 'append' }],
  ])('are not overwritten by %s', async (_name, body) => {
    const [one, two, three] = await refs()
    const [before, kept] = [await secretsOf(), [one ?? '', three ?? '']]
    whenKeysAreStored(() => changeKeys(kept, false))
    const refused = await put(body)
    expect(refused).toMatchObject({ status: 409, success: false, code: 'KeysChanged' })
    expect(refused).toHaveProperty('invalid_field.name', 'key')
    expect(await refs()).toEqual(kept)
    expect(await refs()).not.toContain(two)
    expect(await secretsOf()).toBe(before)
  })
})
