import { beforeEach, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { BodyMemory } from '#relay/limits/body-memory.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'
import { tasksRig } from './tasks/tasks-rig.ts'

const MODEL = 'claude-sonnet-5-5'
const BATCHES = '/v1/messages/batches'
const DRAWING = '/mj/submit/imagine'
const provider = startedForEach(scriptedProvider)
let bodies: BodyMemory
const rig = startedForEach(() => {
  bodies = new BodyMemory()
  return tasksRig({ bodies })
})

beforeEach(async () => {
  const data = { channelIds: [1, 21, 36] }
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL] })
  await rig.addChannel(3, { type: 2, baseUrl: provider.url, models: ['mj_imagine'] })
  await rig.setOption('ModelRatio', { [MODEL]: 2 })
})

const messages = [{ role: 'user', content: 'Hi' }]
const requests = [{ custom_id: 'a', params: { model: MODEL, max_tokens: 64, messages } }]

it.each([
  ['batch', BATCHES, JSON.stringify({ requests }), 3],
  ['task', DRAWING, JSON.stringify({ prompt: 'a lighthouse' }), 2],
])(
  'copies of the body of a %s belong to the share of its user',
  async (_name, path, body, times) => {
    let answer = (): void => {}
    const until = new Promise<void>((resolve) => {
      answer = resolve
    })
    provider.answers.set(`POST ${path}`, { until, status: 400 })
    const headers = { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' }
    const submitting = fetch(`${rig.url}${path}`, { method: 'POST', headers, body })
    await expect.poll(() => provider.requests.map((request) => request.path)).toEqual([path])
    const held = body.length * times
    expect(bodies.taken.bodies).toBe(held)
    expect(bodies.reserve({ userId: USER, bytesMax: held }, 1)).toBe(false)
    expect(bodies.reserve({ userId: USER, bytesMax: held + 1 }, 1)).toBe(true)
    answer()
    await submitting
    await expect.poll(() => bodies.taken.bodies).toBe(0)
  },
)
