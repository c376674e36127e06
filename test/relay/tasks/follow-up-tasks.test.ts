import { beforeAll, expect, it } from 'vitest'
import { CHANNELS_STREAM, type ChannelTerms } from '#domain/channels/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'
import { tasksRig } from './tasks-rig.ts'

const VIP_KEY = 'zyxwvutsrqponmlkjihgfedcba9876543210ABCDEFGHIJKL'
const ADMIN_KEY = 'ABCDEFGHIJKLzyxwvutsrqponmlkjihgfedcba9876543210'
const DRAWING = { type: 2, models: ['mj_imagine', 'mj_reroll'] }

const rig = startedOnce(() => tasksRig({}, { taskMs: 50 }))
beforeAll(async () => {
  await rig.setOption('GroupRatio', { default: 1, vip: 3 })
  await rig.setOption('UserUsableGroups', { default: 'all', vip: 'few' })
  await rig.addToken(4, 7, VIP_KEY, { group: 'vip' })
  await rig.addUser(9, { role: 10 })
  await rig.addToken(5, 9, ADMIN_KEY)
  await rig.grant(9, 1_000_000_000n)
})

async function drawn(headers: Record<string, string>): Promise<string> {
  const task = await rig.imagine('a lighthouse', headers)
  const status = async () => (await rig.ask(`/mj/task/${task}/fetch`, undefined, headers)).json
  await expect.poll(async () => (await status()).status).toBe('SUCCESS')
  return task
}
const reroll = (taskId: string, headers = {}) =>
  rig.ask('/mj/submit/change', { taskId, action: 'REROLL' }, headers)
const change = (channelId: number, terms: Partial<ChannelTerms>, keyRefs: string[]) =>
  rig.append(CHANNELS_STREAM, {
    type: 'ChannelTermsChanged',
    v: 1,
    data: {
      channelId,
      terms: { ...PLAIN_CHANNEL_TERMS, baseUrl: rig.provider.url, ...terms },
      ...{ keyRefs, keyMode: '', droppedKeyRefs: [] },
    },
  })
const REFUSED = { status: 503, json: { error: { code: 'no_channel' } } }

it('a follow-up task needs a token of a group that may use the channel', async () => {
  await rig.addChannel(61, { ...DRAWING, groups: ['vip'] })
  const vip = { 'mj-api-secret': VIP_KEY }
  const task = await drawn(vip)
  const before = await rig.balance()
  const tasksBefore = rig.provider.tasks.size
  expect(await reroll(task)).toMatchObject(REFUSED)
  expect([await rig.balance(), rig.provider.tasks.size]).toEqual([before, tasksBefore])
  expect((await reroll(task, vip)).json).toMatchObject({ code: 1 })
  expect(await rig.balance()).toBe(before - 150_000n)
})

it('a follow-up task needs a model that the original task’s channel offers', async () => {
  const task = await drawn({})
  await change(21, { ...DRAWING, models: ['mj_imagine'] }, ['ref-21'])
  await rig.addChannel(62, { ...DRAWING, groups: ['default'] })
  expect(await reroll(task)).toMatchObject(REFUSED)
})

it('a follow-up task uses the key of the original task and is refused without it', async () => {
  await rig.addChannel(63, { ...DRAWING, groups: ['default'], priority: 99 })
  const task = await drawn({})
  expect((await rig.taskEvents(task))[2]?.data).toMatchObject({ channelId: 63, keyRef: 'ref-63' })
  expect((await reroll(task)).json).toMatchObject({ code: 1 })
  const song = (await rig.ask('/suno/submit/music', { prompt: 'one' })).json.data as string
  const done = async () => (await rig.ask(`/suno/fetch/${song}`)).json.data.status
  await expect.poll(done).toBe('SUCCESS')
  const more = { prompt: 'two', continue_clip_id: 'clip-1', task_id: song }
  await change(63, { ...DRAWING, priority: 99 }, ['ref-63', 'other'])
  const aside = { channelId: 63, keyRef: 'ref-63', reason: 'status-401' }
  await rig.append(CHANNELS_STREAM, { type: 'ChannelKeySetAside', v: 1, data: aside })
  await change(36, { type: 36, models: ['suno_music'] }, ['other'])
  const tasksBefore = rig.provider.tasks.size
  expect(await reroll(task)).toMatchObject(REFUSED)
  expect(await rig.ask('/suno/submit/music', more)).toMatchObject({
    ...{ status: 409, json: { error: { code: 'key_replaced' } } },
  })
  expect(rig.provider.tasks.size).toBe(tasksBefore)
})

it('a follow-up task is refused for good after the deletion of its channel', async () => {
  await rig.addChannel(64, { ...DRAWING, groups: ['default'], priority: 150 })
  const task = await drawn({})
  const deleted = { type: 'ChannelsDeleted', v: 1, data: { channelIds: [64] } } as const
  await rig.append(CHANNELS_STREAM, deleted)
  const refused = { status: 409, json: { error: { code: 'channel_deleted' } } }
  const answers = [await reroll(task), await rig.ask(`/mj/task/${task}/image-seed`)]
  for (const answer of answers) {
    expect(answer).toMatchObject(refused)
    expect(answer.headers.get('retry-after')).toBeNull()
  }
})

it('an original task that the provider has forgotten does not blame its account', async () => {
  const forgetful = await scriptedProvider()
  await rig.addChannel(66, { ...DRAWING, baseUrl: forgetful.url, priority: 200 })
  const { answers } = forgetful
  answers.set('POST /mj/submit/imagine', { body: { code: 1, result: '77' } })
  answers.set('POST /mj/task/list-by-condition', { body: [{ id: '77', status: 'SUCCESS' }] })
  answers.set('POST /mj/submit/change', { body: { code: 3, description: 'no such task' } })
  const task = await drawn({})
  const { status, json } = await reroll(task)
  await rig.append(CHANNELS_STREAM, {
    ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [66] } },
  })
  await forgetful.close()
  expect({ status, json }).toMatchObject({
    status: 200,
    json: { code: 3, description: 'no such task' },
  })
})
