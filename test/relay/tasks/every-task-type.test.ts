import { beforeAll, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { PROFILES, TASK_PROFILES } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { DRAWING_AND_MUSIC_TYPES } from '../support/tested-channel-types.ts'
import { tasksRig } from './tasks-rig.ts'
import { VIDEO_SCRIPTS } from './video-scripts.ts'

const TASKS = {
  drawing: {
    ...{ model: 'mj_imagine', path: '/mj/submit/imagine', price: 50_000n },
    ...{ idOf: (json: { result: string }) => json.result, fetchPath: '/mj/task/:id/fetch' },
    statusOf: (json: { status: string }) => json.status,
  },
  music: {
    ...{ model: 'suno_music', path: '/suno/submit/music', price: 50_000n },
    ...{ idOf: (json: { data: string }) => json.data, fetchPath: '/suno/fetch/:id' },
    statusOf: (json: { data: { status: string } }) => json.data.status,
  },
} as const

describe.each(DRAWING_AND_MUSIC_TYPES)('type $type, $name', ({ type, kind }) => {
  const rig = startedOnce(() => tasksRig({}, { taskMs: 100 }))
  const task = TASKS[kind]

  beforeAll(async () => {
    const data = { channelIds: [21, 36] }
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data })
    await rig.addChannel(2, { type, models: [task.model], groups: ['default'] })
  })

  const submit = async (prompt: string): Promise<string> => {
    const { json, text } = await rig.ask(task.path, { prompt })
    const id = task.idOf(json)
    expect(id, text).toEqual(expect.any(String))
    return id
  }
  const status = (id: string) =>
    expect.poll(async () =>
      task.statusOf((await rig.ask(task.fetchPath.replace(':id', id))).json as never),
    )

  it('bills a task that succeeds to the unit, and none that fails', async () => {
    const before = await rig.balance()
    const made = await submit('a lighthouse')
    await status(made).toBe('SUCCESS')
    expect(await rig.money(made)).toEqual(['CallAdmitted', 'CallSettled'])
    const failed = await submit('failing')
    await status(failed).toBe('FAILURE')
    expect(await rig.money(failed)).toEqual(['CallAdmitted', 'CallReleased'])
    expect(await rig.balance()).toBe(before - task.price)
  })
})

it('every type that makes videos has a script of its vendor, which `videos.test.ts` runs', () => {
  const vendors = [...PROFILES, ...TASK_PROFILES].flatMap(({ videos }) =>
    videos === undefined ? [] : [videos.vendor],
  )
  expect(Object.keys(VIDEO_SCRIPTS).toSorted()).toEqual([...new Set(vendors)].toSorted())
})
