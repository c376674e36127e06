import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import type { RigOptions } from '../support/relay-rig.ts'
import { type ScriptedProvider, scriptedProvider } from '../support/scripted-provider.ts'
import { serviceAccountFile } from '../support/service-account.ts'
import { type TasksRig, tasksRig } from './tasks-rig.ts'

export type VideosRig = TasksRig & {
  readonly vendor: ScriptedProvider
  readonly post: (path: string, body: unknown) => ReturnType<TasksRig['ask']>
  /** The bill of the only settled call of the task, or null. */
  readonly chargeOf: (task: string) => Promise<number | null>
}

export const VERTEX_TOKEN = 'planted-access-token-0123456789'
const vertexKey = (vendor: string) => serviceAccountFile({ token_uri: `${vendor}/token` })

/** A relay in front of a scripted vendor, which is behind a channel of each type. */
export async function videosRig(
  overrides: Parameters<typeof tasksRig>[0] = {},
  options: RigOptions = {},
) {
  const vendor = await scriptedProvider()
  const all: Parameters<typeof tasksRig>[0] = {
    ...overrides,
    tasks: {
      findRecentTasks: async ({ userId, kind, after, limit, isOldestFirst, offset = 0, action }) =>
        (await rig.taskEvents())
          .flatMap(({ type, data }) => (type === 'TaskSubmitted' ? [data] : []))
          .filter((data) => data.userId === userId && data.kind === kind)
          .filter((data) => action === undefined || data.action === action)
          .map(({ task }) => task)
          .filter((task) => after === null || (isOldestFirst ? task > after : task < after))
          .toSorted((a, b) => (a < b === isOldestFirst ? -1 : 1))
          .slice(offset, offset + limit),
      ...overrides.tasks,
    },
  }
  const rig: TasksRig = await tasksRig(all, options)
  const channels = [
    [50, ['kling-v1-6', 'kling-v2-6']],
    [51, ['jimeng_t2v_v30']],
    [52, ['viduq2']],
    [54, ['doubao-seedance-1-0-pro-250528']],
    [55, ['sora-2', 'sora-2-pro']],
    [24, ['veo-3.1-generate-preview']],
    [35, ['MiniMax-Hailuo-02']],
    [17, ['wan2.5-t2v-preview']],
  ] as const
  for (const [type, models] of channels) {
    await rig.addChannel(500 + type, {
      ...{ type, models: [...models], groups: ['default'], baseUrl: vendor.url },
    })
  }
  await rig.append(CHANNELS_STREAM, {
    type: 'ChannelsCreated',
    v: 1,
    data: {
      terms: {
        ...{ ...PLAIN_CHANNEL_TERMS, type: 41, baseUrl: vendor.url, other: 'us-central1' },
        models: ['veo-3.1-generate-001'],
      },
      channels: [{ channelId: 541, name: 'Vertex AI', keyRefs: [`key:${vertexKey(vendor.url)}`] }],
      ...{ keyMode: '', isEnabled: true },
    },
  })
  const token = { access_token: VERTEX_TOKEN, expires_in: 3_600 }
  vendor.answers.set('POST /token', { body: token })
  await rig.setOption('ModelPrice', { viduq2: 0.05, jimeng_t2v_v30: 0.04 })
  const chargeOf = async (task: string): Promise<number | null> => {
    const ends = (await rig.callEvents()).filter(
      (event) => event.type === 'CallSettled' && event.data.call === task,
    )
    const [end] = ends
    if (ends.length > 1) throw new Error('settled twice')
    return end?.type === 'CallSettled' ? Number(end.data.charge) : null
  }
  return {
    ...rig,
    ...{ vendor, chargeOf, post: (path: string, body: unknown) => rig.ask(path, body) },
    close: async () => {
      await rig.close()
      await vendor.close()
    },
  } satisfies VideosRig
}
