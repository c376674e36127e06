import { afterEach, expect, it, vi } from 'vitest'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { sweep } from '#relay/expired-call-sweeper.ts'
import { AcceptedTaskWriter } from '#relay/tasks/accepted-task-writer.ts'
import type { FindOpenTasks } from '#relay/tasks/poll-tasks.ts'
import { TASK_LEASE_MS, TaskLedger } from '#relay/tasks/task-ledger.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { claimedCallsInMemory } from '../support/in-memory-stores.ts'
import { noProgress, serveRelay, TOKEN, USER } from '../support/relay-rig.ts'
import type { Scripted } from '../support/scripted-provider.ts'
import { HOUR } from './tasks-rig.ts'
import { videosRig } from './videos-rig.ts'

const pollTimes = { everyMs: 20, staleMs: 600_000, missingMs: 100 }
const MINUTE = 60_000
let aheadMs = 0
afterEach(() => {
  aheadMs = 0
})

let passes = 0
/** Reports whether the database is away in the poller's pass of this number. */
let failsAt: (pass: number) => boolean = () => false
const rig = startedForEach(async () => {
  const findOpenTasks: FindOpenTasks = async (...page) => {
    passes += 1
    if (failsAt(passes)) throw new StoreUnavailable('away')
    return (await ready).findOpenTasks(...page)
  }
  const tasks = { progress: noProgress, pollTimes, findOpenTasks }
  const ready = videosRig({ tasks }, { now: () => Date.now() + aheadMs })
  return ready
})

const QUERY = 'GET /v1/videos/video_1'
const DONE = { body: { id: 'video_1', status: 'completed', seconds: '4' } }
const RUNNING = { body: { id: 'video_1', status: 'in_progress', progress: 40 } }

async function submitted(): Promise<string> {
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  const { json, text } = await rig.post('/v1/videos', { model: 'sora-2', prompt: 'the sea' })
  expect(json.id, text).toEqual(expect.any(String))
  return json.id as string
}

const endsOf = async (task: string) =>
  (await rig.taskEvents(task)).flatMap(({ type }) => (/Succeeded|Failed/.test(type) ? [type] : []))

const queries = () => rig.vendor.requests.filter(({ method }) => method === 'GET').length

/** Waits until the vendor was asked `count` more times. */
async function askedAgain(count: number): Promise<void> {
  const before = queries()
  await expect.poll(queries).toBeGreaterThanOrEqual(before + count)
}

/** Starts a relay in place of one that was down, with the same events. */
const nextRelay = () => {
  const { findOpenTasks } = rig
  return serveRelay(rig.core, {
    tasks: { progress: noProgress, findOpenTasks, pollTimes, findRecentTasks: async () => [] },
  })
}

it('a video that was finished while all relays were down is delivered and charged', async () => {
  const before = await rig.balance()
  rig.vendor.answers.set(QUERY, RUNNING)
  const task = await submitted()
  await rig.relay.close()
  aheadMs = 5 * HOUR
  rig.vendor.answers.set(QUERY, DONE)
  const next = await nextRelay()
  await expect.poll(() => endsOf(task)).toEqual(['TaskSucceeded'])
  expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
  expect(await rig.balance()).toBe(before - 200_000n)
  await next.close()
})

it('a video whose vendor fails after the outage waits for the answer and is charged', async () => {
  rig.vendor.answers.set(QUERY, RUNNING)
  const task = await submitted()
  await rig.relay.close()
  aheadMs = 5 * HOUR
  rig.vendor.answers.set(QUERY, { status: 503 })
  const next = await nextRelay()
  await askedAgain(3)
  expect(await endsOf(task)).toEqual([])
  rig.vendor.answers.set(QUERY, DONE)
  await expect.poll(() => endsOf(task)).toEqual(['TaskSucceeded'])
  expect(await rig.chargeOf(task)).toBe(200_000)
  await next.close()
})

it.each([
  ['a server that has just started', 4, { status: 404, body: { error: { message: 'unknown' } } }],
  ['a proxy', 3, { status: 404, body: '<html>' }],
  ['an account in arrears', 9, { status: 400, body: { code: 'Arrearage', message: 'x' } }],
] as const)('a finished video outlives answers of %s', async (_name, count, refusal) => {
  rig.vendor.answers.set(QUERY, RUNNING)
  const task = await submitted()
  await rig.relay.close()
  aheadMs = 5 * HOUR
  const inTurn = (left: number): Scripted =>
    left === 0 ? DONE : { ...refusal, next: inTurn(left - 1) }
  rig.vendor.answers.set(QUERY, inTurn(count))
  const next = await nextRelay()
  await expect.poll(() => endsOf(task)).toEqual(['TaskSucceeded'])
  expect(await rig.chargeOf(task)).toBe(200_000)
  await next.close()
})

it('the call of a video is not ended without a charge while all relays are down', async () => {
  rig.vendor.answers.set(QUERY, RUNNING)
  const task = await submitted()
  await rig.relay.close()
  const admitted = (await rig.callEvents()).find(({ type }) => type === 'CallAdmitted')
  const leaseUntil = admitted?.type === 'CallAdmitted' ? admitted.data.leaseUntil : 0
  aheadMs = 48 * HOUR
  const call = { call: task, userId: USER, tokenId: TOKEN, model: 'sora-2', admittedAt: 0 }
  await sweep(rig.core, claimedCallsInMemory(), async () => [{ ...call, leaseUntil }])
  expect(await rig.money(task)).toEqual(['CallAdmitted'])
})

it('a video expires after an hour if its vendor still works on it', async () => {
  const before = await rig.balance()
  rig.vendor.answers.set(QUERY, RUNNING)
  const task = await submitted()
  // The vendor reports the same before and after the hour.
  await askedAgain(3)
  aheadMs = HOUR + 1_000
  await expect.poll(() => endsOf(task)).toEqual(['TaskFailed'])
  expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallReleased'])
  expect(await rig.balance()).toBe(before)
})

it('a video expires after an hour if its vendor does not know it', async () => {
  rig.vendor.answers.set(QUERY, { status: 404 })
  const task = await submitted()
  await askedAgain(3)
  expect(await endsOf(task)).toEqual([])
  aheadMs = HOUR + 1_000
  await expect.poll(() => endsOf(task)).toEqual(['TaskFailed'])
})

it('a video expires once its vendor has not answered for an hour', async () => {
  const before = await rig.balance()
  rig.vendor.answers.set(QUERY, RUNNING)
  const task = await submitted()
  await askedAgain(1)
  rig.vendor.answers.set(QUERY, { status: 503 })
  aheadMs = HOUR - 60_000
  await askedAgain(2)
  aheadMs = HOUR + 60_000
  await askedAgain(2)
  expect(await endsOf(task)).toEqual([])
  aheadMs = 2 * HOUR
  await expect.poll(() => endsOf(task)).toEqual(['TaskFailed'])
  expect(await rig.balance()).toBe(before)
})

it('the Idempotency-Key of a video that was never sent is free once it is lost', async () => {
  const { actors } = rig.core
  const { handleTogether } = actors
  // The relay learns nothing of the append that admits the video, as if it had been killed.
  vi.spyOn(actors, 'handleTogether').mockImplementationOnce(async (...steps) => {
    await handleTogether(...steps)
    throw new StoreUnavailable('away')
  })
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  const body = { model: 'sora-2', prompt: 'the sea' }
  const submit = async () =>
    (await rig.ask('/v1/videos', body, { 'idempotency-key': 'once' })).status
  expect(await submit()).toBe(503)
  expect(await submit()).toBe(409)
  const [lost] = await rig.taskEvents()
  aheadMs = HOUR / 5
  await expect.poll(() => endsOf(lost?.data.task ?? '')).toEqual(['TaskFailed'])
  await expect.poll(submit).toBe(200)
})

it('fifty late successes and expiries at once end the video once, with one payment', async () => {
  rig.vendor.answers.set(QUERY, { status: 503 })
  const task = await submitted()
  const ledger = new TaskLedger(rig.core)
  const record = await ledger.peek(task)
  if (!record?.place) throw new Error('not accepted')
  const { channelId, keyRef, upstreamId } = record.place
  const success = { status: 'SUCCESS', result: '{"file":"content"}' } as const
  aheadMs = 2 * HOUR
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0
        ? ledger.report(record, { channelId, keyRef, upstreamId, ...success })
        : ledger.expire(record),
    ),
  )
  expect(outcomes.filter((outcome) => outcome === 'changed')).toHaveLength(1)
  const [end, ...more] = await endsOf(task)
  expect(more).toEqual([])
  const payment = end === 'TaskSucceeded' ? 'CallSettled' : 'CallReleased'
  expect(await rig.money(task)).toEqual(['CallAdmitted', payment])
})

it('a video without a recorded acceptance does not end while the database comes back', async () => {
  const write = vi.spyOn(AcceptedTaskWriter.prototype, 'write')
  const written = Promise.withResolvers<'pending'>()
  write.mockReturnValueOnce(written.promise)
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  const answered = rig.post('/v1/videos', { model: 'sora-2', prompt: 'the sea' })
  await expect.poll(() => write.mock.calls.length).toBe(1)
  const task = write.mock.calls[0]?.[0].task ?? ''
  passes = 0
  failsAt = (pass) => pass % 4 === 1
  await expect.poll(() => passes).toBeGreaterThan(1)
  aheadMs = HOUR / 5
  const before = passes
  await expect.poll(() => passes).toBeGreaterThan(before + 20)
  expect(await endsOf(task)).toEqual([])
  failsAt = () => false
  await expect.poll(() => endsOf(task)).toEqual(['TaskFailed'])
  written.resolve('pending')
  await answered
})

it('a video that is still open when its call has ended by its lease ends as well', async () => {
  rig.vendor.answers.set(QUERY, RUNNING)
  const task = await submitted()
  await rig.relay.close()
  rig.vendor.answers.set(QUERY, { status: 503 })
  aheadMs = TASK_LEASE_MS - MINUTE
  const next = await nextRelay()
  await askedAgain(2)
  expect(await endsOf(task)).toEqual([])
  // The vendor has not answered for two minutes only, but nobody pays for the video any more.
  aheadMs = TASK_LEASE_MS + MINUTE
  await expect.poll(() => endsOf(task)).toEqual(['TaskFailed'])
  await next.close()
})
