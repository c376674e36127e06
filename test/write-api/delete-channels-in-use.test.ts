import { beforeEach, describe, expect, it } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { appendTo, type Given } from '#test/projections/fixture.ts'
import { accepted, aDrawing, failed, submitted, unconfirmed } from '#test/projections/task-facts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
let channelId: number
let count = 0

const append = (facts: readonly Given[]) => appendTo(fixture.core.store, facts)
const batchFact = (batch: string, type: string, data: object): Given => ({
  stream: `batch-${batch}`,
  ...{ type, v: 1, data: { batch, userId: 7, ...data } },
})

/** A task and a batch that the channel's provider has accepted. */
async function workInFlight() {
  count += 1
  const task = aDrawing(`task-in-use-${count}`, 7)
  const batch = `batch-in-use-${count}`
  const place = { channelId, keyRef: 'ref', upstreamId: 'up' }
  const submission = { tokenId: 1, group: 'default', api: 'openai', lines: 1, parts: [] }
  await append([submitted(task), accepted(task, place)])
  await append([
    batchFact(batch, 'BatchSubmitted', { ...submission, submittedAt: 0 }),
    batchFact(batch, 'BatchAccepted', place),
  ])
  return {
    endTask: () => append([failed(task, { channelId })]),
    endBatch: () =>
      append([batchFact(batch, 'BatchEnded', { cause: 'done', billedLines: 0, endedAt: 0 })]),
  }
}

const exists = async (): Promise<boolean> => {
  const { channels } = await fixture.core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  return channels.has(channelId)
}
const remove = (query = '') =>
  fixture.admin.call('DELETE', `/api/channel/${channelId}/${query}`, {
    headers: { 'accept-language': 'en' },
  })

beforeEach(async () => {
  const body = { name: 'c', key: 'sk-one', models: 'm' }
  channelId = (await fixture.admin.call<{ id: number }>('POST', '/api/channel/', { body })).data.id
  await fixture.admin.call('PUT', '/api/channel/', { body: { id: channelId, status: 2 } })
})

it('a channel is not deleted before its tasks and batches have ended', async () => {
  const { endTask, endBatch } = await workInFlight()
  const refused = await remove()
  expect(refused).toMatchObject({ status: 409, success: false, code: 'WorkInFlight' })
  expect(refused.message).toContain('tasks: 1, batches: 1, being submitted: 0')
  await endTask()
  expect((await remove()).message).toContain('tasks: 0, batches: 1')
  expect(await exists()).toBe(true)
  await endBatch()
  expect(await remove()).toMatchObject({ status: 200, success: true })
  expect(await exists()).toBe(false)
})

const ROUTES = {
  'one channel': (isForced: boolean) => remove(isForced ? '?force=true' : ''),
  'selected channels': (isForced: boolean) => {
    const body = { ids: [channelId], ...(isForced ? { force: true } : {}) }
    return fixture.admin.call('POST', '/api/channel/batch', { body })
  },
  'all disabled channels': (isForced: boolean) =>
    fixture.admin.call('DELETE', `/api/channel/disabled${isForced ? '?force=true' : ''}`),
}

it.each(Object.entries(ROUTES))('the deletion of %s can be forced', async (_name, send) => {
  await workInFlight()
  expect(await send(false)).toMatchObject({ status: 409, code: 'WorkInFlight' })
  expect(await exists()).toBe(true)
  expect(await send(true)).toMatchObject({ status: 200, success: true })
  expect(await exists()).toBe(false)
})

it('a value of `force` that is not true or false is refused by name', async () => {
  const answer = await remove('?force=maybe')
  expect(answer.status).toBe(400)
  expect(answer.message).toContain('force')
  expect(await exists()).toBe(true)
})

const statusOf = async () => {
  const { channels } = await fixture.core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  return channels.get(channelId)?.status
}

describe('a channel that is deleted while a task is being submitted', () => {
  /** Starts a deletion. It waits, because a task may have been sent to the enabled channel. */
  const removeDuringSubmission = async () => {
    await fixture.admin.call('PUT', '/api/channel/', { body: { id: channelId, status: 1 } })
    count += 1
    const task = aDrawing(`task-under-way-${count}`, 7)
    await append([submitted(task)])
    const removal = remove()
    await expect.poll(statusOf).toBe('disabled')
    const acceptedBy = (id: number) =>
      append([accepted(task, { channelId: id, keyRef: 'ref', upstreamId: 'up' })])
    return { task, removal, acceptedBy }
  }

  it('stays as it was if the task turns out to be there', async () => {
    const { task, removal, acceptedBy } = await removeDuringSubmission()
    await acceptedBy(channelId)
    expect(await removal).toMatchObject({ status: 409, code: 'WorkInFlight' })
    expect(await statusOf()).toBe('enabled')
    await append([failed(task, { channelId })])
    expect(await remove()).toMatchObject({ status: 200, success: true })
  })

  it('is deleted if the task turns out to be elsewhere', async () => {
    const { task, removal, acceptedBy } = await removeDuringSubmission()
    await acceptedBy(channelId + 1_000)
    expect(await removal).toMatchObject({ status: 200, success: true })
    expect(await exists()).toBe(false)
    await append([failed(task, { channelId: channelId + 1_000 })])
  })

  it('stays as it was if it does not turn out in time where the task is', async () => {
    const { task, removal } = await removeDuringSubmission()
    const refused = await removal
    expect(refused).toMatchObject({ status: 409, code: 'WorkInFlight' })
    expect(refused.message).toContain('being submitted: 1')
    expect(await statusOf()).toBe('enabled')
    await append([failed(task, { channelId: null })])
  })
})

it('a channel is not deleted while a batch is being submitted to it', async () => {
  const submission = { tokenId: 1, group: 'default', api: 'openai', channelId, lines: 1, parts: [] }
  await append([batchFact('batch-under-way', 'BatchSubmitted', { ...submission, submittedAt: 0 })])
  expect((await remove()).message).toContain('batches: 1')
  const end = { cause: 'refused', billedLines: 0, endedAt: 0 }
  await append([batchFact('batch-under-way', 'BatchEnded', end)])
  expect(await remove()).toMatchObject({ status: 200, success: true })
})

it('a channel is not deleted while the answer to a task that it got is lost', async () => {
  const task = aDrawing('task-unconfirmed', 7)
  const sentTo = { channelId, keyRef: 'ref', attempts: [] }
  await append([submitted(task), unconfirmed(task, sentTo)])
  expect((await remove()).message).toContain('tasks: 1')
  await append([failed(task, { channelId })])
  expect(await remove()).toMatchObject({ status: 200, success: true })
})

it('a channel that is disabled while others are checked is not deleted with them', async () => {
  await fixture.admin.call('DELETE', '/api/channel/disabled?force=true')
  const other = { name: 'other', key: 'sk-two', models: 'm' }
  const created = await fixture.admin.call<{ id: number }>('POST', '/api/channel/', { body: other })
  const { id } = created.data
  const disable = (id: number) =>
    fixture.admin.call('PUT', '/api/channel/', { body: { id, status: 2 } })
  await disable(id)
  const body = { name: 'c', key: 'sk-one', models: 'm' }
  const busy = await fixture.admin.call<{ id: number }>('POST', '/api/channel/', { body })
  channelId = busy.data.id
  await workInFlight()
  count += 1
  const task = aDrawing(`task-under-way-${count}`, 7)
  await append([submitted(task)])
  // The deletion waits for the task, because it may have been sent to one of the channels.
  const removal = fixture.admin.call('DELETE', '/api/channel/disabled')
  await fixture.core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  await disable(channelId)
  await append([failed(task, { channelId: 0 })])
  await removal
  expect(await exists()).toBe(true)
})
