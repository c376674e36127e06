import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { videosRig } from './videos-rig.ts'

const FIRST = 750
const VIDEO = { model: 'kling-v2-6', prompt: 'x' }
const rig = startedOnce(() => videosRig())
const submit = () => rig.post('/v1/videos', VIDEO)

beforeAll(async () => {
  const limits = { maxConcurrency: 1, priority: 10 }
  const terms = { type: 50, models: [VIDEO.model], baseUrl: rig.vendor.url, ...limits }
  await rig.addChannel(FIRST, terms)
  await rig.setOption('RetryTimes', '0')
  const accepted = { code: 0, data: { task_id: 'k1', task_status: 'submitted' } }
  rig.vendor.answers.set('POST /v1/videos/text2video', { body: accepted })
  // The tasks stay open, so that their polls do not change the balance.
  const open = { code: 0, data: { task_id: 'k1', task_status: 'processing' } }
  rig.vendor.answers.set('GET /v1/videos/text2video/k1', { body: open })
})

afterEach(() => vi.restoreAllMocks())

const channelsOf = async (task: string) =>
  (await rig.taskEvents(task)).flatMap(({ type, data }) =>
    type === 'TaskRouted' ? [data.channelId] : [],
  )

const AWAY = new StoreUnavailable('away')

/** The event store fails in the step, once. */
const failures: readonly [step: string, fail: () => void][] = [
  [
    'the channel is asked about',
    () => vi.spyOn(rig.core.actors, 'ask').mockRejectedValueOnce(AWAY),
  ],
  [
    'the route is recorded',
    () => {
      const { handle } = rig.core.actors
      let isOver = false
      vi.spyOn(rig.core.actors, 'handle').mockImplementation(async (...of) => {
        if (isOver || (of[2] as { type?: string }).type !== 'RouteTask') return handle(...of)
        isOver = true
        throw AWAY
      })
    },
  ],
  [
    'the key is asked about',
    () => {
      const { ask } = rig.core.actors
      let count = 0
      vi.spyOn(rig.core.actors, 'ask').mockImplementation(async (...of) => {
        count += 1
        if (count === 2) throw AWAY
        return ask(...of)
      })
    },
  ],
]

it.each(failures)(
  'no permit and no quota stay held if the store fails when %s',
  async (_, fail) => {
    const before = await rig.balance()
    fail()
    const refused = await submit()
    expect(refused.status, refused.text).toBe(503)
    expect(refused.json.error.code).toBe('store_unavailable')
    expect(await rig.balance()).toBe(before)
    vi.restoreAllMocks()
    const { status, json, text } = await submit()
    expect(status, text).toBe(200)
    expect(await channelsOf(json.id)).toEqual([FIRST])
  },
)

const pause = { channelIds: [FIRST], pause: 'one' }
const pauseSubmissions = () => {
  const data = { ...pause, pausedAt: rig.core.now() }
  return rig.append(CHANNELS_STREAM, { type: 'ChannelSubmissionsPaused', v: 1, data })
}
const resumeSubmissions = () =>
  rig.append(CHANNELS_STREAM, { type: 'ChannelSubmissionsResumed', v: 1, data: pause })

it('a channel whose submissions are paused uses up no try', async () => {
  await pauseSubmissions()
  const { status, json, text } = await submit()
  expect(status, text).toBe(200)
  expect(await channelsOf(json.id)).toEqual([550])
  await resumeSubmissions()
  expect(await channelsOf((await submit()).json.id)).toEqual([FIRST])
})

it('no circuit of a key is probed while its channel’s submissions are paused', async () => {
  const stream = channelHealthStream(FIRST)
  const circuit = { channelId: FIRST, model: null, keyRef: `ref-${FIRST}` }
  const failure = { reason: 'status-429', failures: 3, round: 1, until: rig.core.now() - 1_000 }
  await rig.append(stream, { type: 'CircuitOpened', v: 1, data: { ...circuit, ...failure } })
  const probes = async () =>
    (await rig.eventsOf(stream)).filter(({ type }) => type === 'CircuitHalfOpened').length
  await pauseSubmissions()
  expect(await channelsOf((await submit()).json.id)).toEqual([550])
  expect(await probes()).toBe(0)
  await resumeSubmissions()
  expect(await channelsOf((await submit()).json.id)).toEqual([FIRST])
  expect(await probes()).toBe(1)
})
