import { beforeEach, describe, expect, it, vi } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { appendTo, type Given } from '#test/projections/fixture.ts'
import {
  accepted,
  aDrawing,
  failed,
  routed,
  submitted,
  unconfirmed,
} from '#test/projections/task-facts.ts'
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
  expect(refused.message).toContain('tasks: 1, batches: 1')
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

/** Runs work after the submissions to a channel were paused, and before its work is counted. */
function duringPause(work: () => Promise<unknown>) {
  const { actors } = fixture.core
  const handle = actors.handle.bind(actors)
  const spy = vi.spyOn(actors, 'handle')
  spy.mockImplementation(async (decider, stream, command, context) => {
    const outcome = await handle(decider, stream, command, context)
    const { type } = command as { readonly type?: string }
    if (type === 'PauseSubmissions') {
      spy.mockRestore()
      await work()
    }
    return outcome
  })
}

const typesOfChannels = async () =>
  (await fixture.core.store.readStream(CHANNELS_STREAM)).map(({ type }) => type)

describe('a channel that is deleted while a task is being submitted', () => {
  const aTask = () => {
    count += 1
    return aDrawing(`task-under-way-${count}`, 7)
  }
  beforeEach(() =>
    fixture.admin.call('PUT', '/api/channel/', { body: { id: channelId, status: 1 } }),
  )

  it('is not deleted while the task may be there, and its status stays', async () => {
    const task = aTask()
    await append([submitted(task), routed(task, { channelId, keyRef: 'ref' })])
    const before = await typesOfChannels()
    expect(await remove()).toMatchObject({ status: 409, code: 'WorkInFlight' })
    expect(await statusOf()).toBe('enabled')
    expect(await typesOfChannels()).toEqual(before)
    await append([failed(task, { channelId })])
    expect(await remove()).toMatchObject({ status: 200, success: true })
  })

  it('is not deleted if the task was routed there while its work was counted', async () => {
    const task = aTask()
    duringPause(async () => {
      await append([submitted(task), routed(task, { channelId, keyRef: 'ref' })])
      await fixture.admin.call('PUT', '/api/channel/', { body: { id: channelId, status: 2 } })
    })
    expect(await remove()).toMatchObject({ status: 409, code: 'WorkInFlight' })
    // Another admin has disabled the channel meanwhile.
    expect(await statusOf()).toBe('disabled')
    expect((await typesOfChannels()).at(-1)).toBe('ChannelSubmissionsResumed')
    await append([failed(task, { channelId })])
    expect(await remove()).toMatchObject({ status: 200, success: true })
  })

  it('is deleted at once if the task is elsewhere or not sent yet', async () => {
    const [elsewhere, unsent] = [aTask(), aTask()]
    const other = channelId + 1_000
    await append([submitted(elsewhere), routed(elsewhere, { channelId: other, keyRef: 'ref' })])
    await append([submitted(unsent)])
    expect(await remove()).toMatchObject({ status: 200, success: true })
    expect(await exists()).toBe(false)
    await append([failed(elsewhere, { channelId: other })])
    await append([failed(unsent, { channelId: null })])
  })

  it('is not deleted by two requests at once, unless the first one died', async () => {
    const pausedAt = (pausedAt: number): Given => ({
      ...{ stream: CHANNELS_STREAM, type: 'ChannelSubmissionsPaused', v: 1 },
      data: { channelIds: [channelId], pause: 'other', pausedAt },
    })
    await append([pausedAt(fixture.core.now())])
    expect(await remove()).toMatchObject({ status: 409, code: 'SubmissionsPaused' })
    await append([pausedAt(fixture.core.now() - 60_000)])
    expect(await remove()).toMatchObject({ status: 200, success: true })
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

it('a channel is not deleted while a batch that another one refused is sent to it', async () => {
  const other = channelId + 1_000
  const submission = { tokenId: 1, group: 'default', api: 'anthropic', lines: 1, parts: [] }
  const submitted = { ...submission, channelId: other, submittedAt: 0 }
  await append([
    batchFact('batch-routed', 'BatchSubmitted', submitted),
    batchFact('batch-routed', 'BatchRouted', { channelId }),
  ])
  expect((await remove()).message).toContain('batches: 1')
  const end = { cause: 'refused', billedLines: 0, endedAt: 0 }
  await append([batchFact('batch-routed', 'BatchEnded', end)])
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
  duringPause(() => disable(channelId))
  expect(await fixture.admin.call('DELETE', '/api/channel/disabled')).toMatchObject({
    ...{ status: 200, data: 1 },
  })
  expect(await exists()).toBe(true)
})
