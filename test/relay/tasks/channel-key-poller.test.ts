import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { OpenTask } from '#projections/open-tasks/query.ts'
import {
  ChannelKeyPoller,
  type PollerTimes,
  type PollTarget,
} from '#relay/tasks/channel-key-poller.ts'
import { reportsIn } from '#relay/tasks/read-provider-task-answers.ts'
import type { TaskDeps } from '#relay/tasks/task-deps.ts'
import { UnansweredStatusQueries } from '#relay/tasks/unanswered-status-queries.ts'
import { HOUR, type TasksRig, tasksRig } from './tasks-rig.ts'

/** `waiting` contains the unanswered requests. */
type Service = {
  readonly server: Server
  readonly url: string
  readonly asked: string[][]
  readonly waiting: Set<ServerResponse>
}

const SENT = { sentToChannelId: null, sentWithKeyRef: null }
const DEEP = `[{"id":"poison","buttons":${'['.repeat(6_000)}${']'.repeat(6_000)}}]`

let rig: TasksRig
let service: Service
let hanging: Service
let aheadMs = 0
let isHanging = true
let more: readonly OpenTask[] = []

let passes = 0

async function serve(says: (ids: string[]) => string | null | Promise<string>): Promise<Service> {
  let count = 0
  const asked: string[][] = []
  const waiting = new Set<ServerResponse>()
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as { ids?: string[] }
    response.setHeader('content-type', 'application/json')
    if (body.ids === undefined) {
      count += 1
      const { prompt } = body as { prompt?: string }
      return response.end(JSON.stringify({ code: 1, result: `${prompt}-${count}` }))
    }
    asked.push(body.ids)
    waiting.add(response)
    response.on('close', () => waiting.delete(response))
    const answer = await says(body.ids)
    if (answer !== null) response.end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    server,
    asked,
    waiting,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
}

const rowOf = (id: string) =>
  id.startsWith('slow')
    ? { id, status: 'IN_PROGRESS', progress: '10%' }
    : { id, status: 'SUCCESS', progress: '100%' }

beforeAll(async () => {
  hanging = await serve(() => (isHanging ? null : '[]'))
  service = await serve((ids) =>
    ids.some((id) => id.startsWith('poison')) ? DEEP : JSON.stringify(ids.map(rowOf)),
  )
  rig = await tasksRig(
    {
      tasks: {
        findOpenTasks: async (...page) => {
          passes += 1
          return [...more, ...(await rig.findOpenTasks(...page))]
        },
        pollTimes: { everyMs: 20, staleMs: 600_000 },
      },
    },
    { taskMs: 100, now: () => Date.now() + aheadMs },
  )
  const drawing = { type: 2, models: ['mj_shorten'], priority: 9 }
  await rig.addChannel(61, { ...drawing, models: ['mj_describe'], baseUrl: hanging.url })
  await rig.addChannel(62, { ...drawing, baseUrl: service.url })
})
afterAll(async () => {
  await rig.close()
  for (const { server } of [hanging, service]) {
    server.closeAllConnections()
    server.close()
  }
})

const shorten = async (prompt: string): Promise<string> =>
  (await rig.ask('/mj/submit/shorten', { prompt })).json.result
const statusOf = async (task: string) => (await rig.ask(`/mj/task/${task}/fetch`)).json.status

/** Ends the requests to the hanging service, also one that begins meanwhile. */
const closeAll = async (): Promise<void> => {
  const before = passes
  const open = () => {
    hanging.server.closeAllConnections()
    return passes > before + 3 ? hanging.waiting.size : -1
  }
  await expect.poll(open).toBe(0)
}

describe('poller of provider tasks', () => {
  it('polls other channels while a channel with many tasks hangs', async () => {
    const place = { userId: 7, channelId: 61, keyRef: 'ref-61', kind: 'drawing', ...SENT } as const
    const submittedAt = Date.now() - 60_000
    more = Array.from({ length: 150 }, (_, n) => {
      return { ...place, task: `t${n}`, upstreamId: `u${n}`, submittedAt }
    })
    await expect.poll(() => hanging.asked.length).toBeGreaterThan(0)
    const task = await rig.imagine()
    await expect.poll(() => statusOf(task)).toBe('SUCCESS')
    expect(hanging.asked.length).toBeLessThanOrEqual(2)
    more = []
    await closeAll()
  })

  it('sends at most 32 polls in all and three per channel, and reaches each channel', async () => {
    const channels = Array.from({ length: 16 }, (_, n) => 200 + n)
    for (const channelId of channels) {
      await rig.addChannel(channelId, { type: 2, models: ['mj_blend'], baseUrl: hanging.url })
    }
    hanging.asked.length = 0
    // Two lanes of each channel, with work for both of a lane's askings.
    more = Array.from({ length: 16 * 2 * 30 }, (_, n) => {
      const channelId = 200 + (n % 16)
      const kind = n % 32 < 16 ? 'drawing' : 'music'
      const keyRef = `ref-${channelId}`
      const place = { userId: 7, channelId, keyRef, kind, ...SENT } as const
      return { ...place, task: `m${n}`, upstreamId: `${channelId}`, submittedAt: Date.now() }
    })
    await expect.poll(() => hanging.asked.length).toBe(32)
    const before = passes
    await expect.poll(() => passes).toBeGreaterThan(before + 3)
    const asked = hanging.asked.map(([id]) => id)
    expect(asked).toHaveLength(32)
    for (const id of new Set(asked)) {
      expect(asked.filter((one) => one === id).length).toBeLessThanOrEqual(3)
    }
    isHanging = false
    hanging.server.closeAllConnections()
    await expect.poll(() => new Set(hanging.asked.map(([id]) => id)).size).toBe(16)
    more = []
  })

  it('does not expire a recent task that the list of open tasks shows as old', async () => {
    const task = await shorten('slow')
    const handleTogether = vi.spyOn(rig.core.actors, 'handleTogether')
    const nowhere = { channelId: null, keyRef: null, upstreamId: null, submittedAt: 0, ...SENT }
    more = [{ task, userId: 7, kind: 'drawing', ...nowhere }]
    const before = passes
    await expect.poll(() => passes).toBeGreaterThan(before + 10)
    const commands = handleTogether.mock.calls.flatMap(([steps]) => steps)
    expect(commands.filter(({ command }) => command.type === 'ExpireTask')).toEqual([])
    handleTogether.mockRestore()
    more = []
  })

  it('polls the others when one task spoils the answer, and ends that one after 1 h', async () => {
    const poison = await shorten('poison')
    const others = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(shorten))
    for (const task of others) {
      await expect.poll(() => statusOf(task)).toBe('SUCCESS')
    }
    expect(await statusOf(poison)).toBe('SUBMITTED')
    aheadMs = HOUR + 1_000
    await expect.poll(() => statusOf(poison)).toBe('FAILURE')
    aheadMs = 0
    expect(await rig.money(poison)).toEqual(['CallAdmitted', 'CallReleased'])
  })

  it('does not keep reading the stream of a task without news', async () => {
    const task = await shorten('slow')
    const types = async () => (await rig.taskEvents(task)).map(({ type }) => type)
    await expect.poll(types).toContain('TaskStatusChanged')
    const readStream = vi.spyOn(rig.core.store, 'readStream')
    const before = service.asked.length
    await expect.poll(() => service.asked.length).toBeGreaterThan(before + 5)
    const reads = readStream.mock.calls.filter(([stream]) => stream === `task-${task}`)
    readStream.mockRestore()
    expect(reads.length).toBeLessThanOrEqual(1)
  })
})

it('all tasks of a provider that is away can expire an hour later, asked or not', async () => {
  const service = await serve(() => 'no json')
  const dispatcher = new Agent()
  const tasks = Array.from({ length: 400 }, (_, n) => {
    return { task: `t${1_000 + n}`, upstreamId: `u${n}`, submittedAt: 0 } as OpenTask
  })
  const unanswered = new UnansweredStatusQueries()
  const givenUp = (now: number) => tasks.filter((task) => unanswered.mayExpireUnanswered(task, now))
  const poller = pollerAt(dispatcher, { everyMs: 1, lateMs: 2 * HOUR, missingMs: 1 }, unanswered)
  const ask = () => poller.poll(targetAt(service.url), tasks, new AbortController().signal)
  // Few failures may be due to single tasks, so the other tasks are not given up.
  await ask()
  const askedOnce = new Set(service.asked.flat()).size
  expect(givenUp(2 * HOUR + 1)).toHaveLength(askedOnce)
  await expect.poll(() => ask().then(() => service.asked.length)).toBeGreaterThanOrEqual(4)
  expect(new Set(service.asked.flat()).size).toBeLessThan(400)
  expect(givenUp(2 * HOUR)).toEqual([])
  expect(givenUp(2 * HOUR + 1)).toHaveLength(400)
  await dispatcher.close()
  service.server.close()
})

it('a task of more than a day expires ten minutes after the first question without answer', () => {
  const unanswered = new UnansweredStatusQueries()
  const firstAt = 30 * HOUR
  unanswered.add('t', firstAt)
  const old = { task: 't', submittedAt: 0 }
  expect(unanswered.mayExpireUnanswered(old, firstAt + 600_000)).toBe(false)
  expect(unanswered.mayExpireUnanswered(old, firstAt + 600_001)).toBe(true)
  expect(
    unanswered.mayExpireUnanswered({ ...old, submittedAt: 20 * HOUR }, firstAt + 600_001),
  ).toBe(false)
})

it.each([
  ['{"code":500,"message":"busy"}', null],
  ['{"code":"error","message":"busy"}', null],
  ['{"code":"success","data":null}', []],
  ['null', []],
  ['[]', []],
])('the answer %s of a provider of drawings or music is read as %o', (body, reports) => {
  for (const kind of ['drawing', 'music'] as const) {
    expect(reportsIn(kind, Buffer.from(body))).toEqual(reports)
  }
})

/** A poller at the time of one hour that may send any number of requests at once. */
function pollerAt(dispatcher: Agent, times: PollerTimes, unanswered: UnansweredStatusQueries) {
  const fixed = { now: () => HOUR, log: pino({ level: 'silent' }) }
  const pollPermits = { enter: async () => () => {} }
  const providerOutbound = { via: () => ({ dispatcher }) }
  const deps = { ...fixed, pollPermits, providerOutbound } as unknown as TaskDeps
  return new ChannelKeyPoller(deps, times, unanswered)
}

function targetAt(url: string): PollTarget {
  const address = { href: url, key: 'secret', other: '' }
  const target = { profile: { endpoints: [] as readonly [] }, origin: url, address, cloud: null }
  const asked: unknown = { channel: { channelId: 1 }, key: { target }, kind: 'drawing' }
  return asked as PollTarget
}

it('a late task keeps its priority until it has been polled', async () => {
  const first = Promise.withResolvers<void>()
  const service = await serve(async ([id]) => {
    if (id === 'u0') await first.promise
    return id === 'u0' || id === 'u25' ? 'no json' : '[]'
  })
  const dispatcher = new Agent()
  // Of two questions at once the second fails first: the lane has stopped at the first one then.
  const pollPermits = { enter: async () => () => first.resolve() }
  const fixed = { now: () => HOUR, log: pino({ level: 'silent' }) }
  const providerOutbound = { via: () => ({ dispatcher }) }
  const parts = { ...fixed, pollPermits, providerOutbound } as unknown as TaskDeps
  const tasks = Array.from({ length: 60 }, (_, n) => {
    return { task: `t${100 + n}`, upstreamId: `u${n}`, submittedAt: 0 } as OpenTask
  })
  const times = { everyMs: 30, lateMs: 1, missingMs: 1 }
  const lane = new ChannelKeyPoller(parts, times, new UnansweredStatusQueries())
  const ask = () => lane.poll(targetAt(service.url), tasks, new AbortController().signal)
  await ask()
  expect(service.asked.map(([id]) => id)).toEqual(['u0', 'u25'])
  // Left alone for a moment.
  await expect.poll(() => ask().then(() => service.asked.length)).toBeGreaterThan(2)
  expect(service.asked[2]?.[0]).toBe('u50')
  await dispatcher.close()
  service.server.close()
})
