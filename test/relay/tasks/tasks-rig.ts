import type { Recorded } from '#domain/shared/event.ts'
import type { TaskEvent } from '#domain/tasks/events.ts'
import type { OpenTask } from '#projections/open-tasks/query.ts'
import type { RelayOverrides } from '#relay/start-relay.ts'
import type { FindOpenTasks } from '#relay/tasks/poll-tasks.ts'
import { KEY, noProgress, type RelayRig, type RigOptions, relayRig } from '../support/relay-rig.ts'

export const HOUR = 3_600_000
export const UNKNOWN_TASK = '019ab0de-2c00-7000-8000-0000000000ff'

export type Answered = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of several formats, looked into by tests
  readonly json: any
}

export type TasksRig = RelayRig & {
  readonly ask: (
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answered>
  /** The id of a new task. */
  readonly imagine: (prompt?: string, headers?: Record<string, string>) => Promise<string>
  readonly taskEvents: (task?: string) => Promise<Recorded<TaskEvent>[]>
  /** Types of the events of the account's calls, of this task. */
  readonly money: (task: string) => Promise<string[]>
  readonly findOpenTasks: FindOpenTasks
}

/** What has not ended, folded from the events: a read model that never lags. */
export function openTasksOf(events: readonly Recorded<TaskEvent>[]): OpenTask[] {
  const open = new Map<string, OpenTask>()
  for (const { type, data } of events) {
    if (type === 'TaskSubmitted') {
      const { task, userId, kind, submittedAt } = data
      const nowhere = { channelId: null, keyRef: null, upstreamId: null }
      const unsent = { sentToChannelId: null, sentWithKeyRef: null }
      open.set(task, { task, userId, kind, submittedAt, ...nowhere, ...unsent })
    } else if (type === 'TaskRouted') {
      const { task, channelId: sentToChannelId, keyRef: sentWithKeyRef } = data
      const openTask = open.get(task)
      if (openTask !== undefined) open.set(task, { ...openTask, sentToChannelId, sentWithKeyRef })
    } else if (type === 'TaskAccepted') {
      const { task, channelId, keyRef, upstreamId } = data
      const openTask = open.get(task)
      if (openTask !== undefined) open.set(task, { ...openTask, channelId, keyRef, upstreamId })
    } else if (type === 'TaskSucceeded' || type === 'TaskFailed') open.delete(data.task)
  }
  return [...open.values()]
}

/** A relay with drawing and music switched on, and channels for both. */
export async function tasksRig(
  overrides: RelayOverrides = {},
  providing: RigOptions = {},
): Promise<TasksRig> {
  let rig: RelayRig | null = null
  const taskEvents = async (task?: string): Promise<Recorded<TaskEvent>[]> => {
    const events = (await rig?.core.store.readAll(0, 100_000)) ?? []
    const ofTasks = events.filter(({ stream }) => stream.startsWith('task-'))
    return (ofTasks as Recorded<TaskEvent>[]).filter(
      ({ data }) => (task ?? data.task) === data.task,
    )
  }
  const findOpenTasks: FindOpenTasks = async (after, limit) =>
    openTasksOf(await taskEvents())
      .filter(({ submittedAt, task }) => submittedAt > after.submittedAt || task > after.task)
      .slice(0, limit)
  const pollTimes = { everyMs: 50, staleMs: 600_000, missingMs: 300 }
  const tasks = { progress: noProgress, findOpenTasks, pollTimes, ...overrides.tasks }
  const made = await relayRig({ ...overrides, tasks }, {}, undefined, providing)
  rig = made
  const drawing = { type: 2, models: createdModels, groups: ['default'], costRatio: '0.4' }
  await made.addChannel(21, drawing)
  await made.addChannel(36, { type: 36, models: ['suno_music', 'suno_lyrics'] })
  for (const key of ['DrawingEnabled', 'TaskEnabled']) await made.setOption(key, 'true')
  const ask: TasksRig['ask'] = async (path, body, headers = {}) => {
    const response = await fetch(`${made.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'mj-api-secret': `sk-${KEY}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const { status } = response
    return { status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null }
  }
  return {
    ...made,
    ask,
    taskEvents,
    findOpenTasks,
    imagine: async (prompt = 'a lighthouse', headers = {}) => {
      const { json, text } = await ask('/mj/submit/imagine', { prompt }, headers)
      if (json?.code !== 1) throw new Error(text)
      return json.result as string
    },
    money: async (task) =>
      (await made.callEvents())
        .filter(({ data }) => 'call' in data && data.call === task)
        .map(({ type }) => type),
  }
}

const createdModels = [
  ...['mj_imagine', 'mj_upscale', 'mj_variation', 'mj_reroll', 'mj_describe', 'mj_blend'],
  ...['mj_shorten', 'mj_modal', 'mj_inpaint', 'mj_zoom', 'mj_upload', 'swap_face'],
]
