import { beforeEach, expect, it } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { appendTo, type Given } from '#test/projections/fixture.ts'
import { accepted, aDrawing, failed, submitted } from '#test/projections/task-facts.ts'
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
