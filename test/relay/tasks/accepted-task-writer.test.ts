import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { type AcceptedTask, AcceptedTaskWriter } from '#relay/tasks/accepted-task-writer.ts'
import { HOUR, tasksRig } from './tasks-rig.ts'

const AWAY = new StoreUnavailable('away')
const acceptance = (n: number): AcceptedTask => ({
  task: `task ${n}`,
  userId: 7,
  submittedAt: 0,
  place: {
    ...{ channelId: 5, keyRef: 'ref', upstreamId: `${n}`, code: 1, status: 'SUBMITTED' },
    description: null,
  },
})

function keeping(now = () => 1_000) {
  const written: string[] = []
  const store = { isAway: true, tries: 0, isOver: false }
  const accept = async (task: string) => {
    store.tries += 1
    if (store.isAway) throw AWAY
    if (store.isOver) return 'TaskEnded' as const
    written.push(task)
    return 'changed' as const
  }
  const log = pino({ level: 'silent' })
  const error = vi.spyOn(log, 'error')
  return {
    kept: new AcceptedTaskWriter({ ledger: { accept }, log, now }, 5),
    written,
    store,
    error,
  }
}

it('accepted tasks are written in order once the store is available', async () => {
  const { kept, written, store } = keeping()
  for (const n of [1, 2, 3]) expect(await kept.write(acceptance(n))).toBe('pending')
  await expect.poll(() => store.tries).toBeGreaterThan(5)
  expect(written).toEqual([])
  store.isAway = false
  await expect.poll(() => written).toEqual(['task 1', 'task 2', 'task 3'])
  expect(await kept.write(acceptance(4))).toBe('changed')
  await kept.stop()
  expect(written).toHaveLength(4)
})

it('a pending task is retried once at the stop and logged when that fails', async () => {
  const { kept, written, store, error } = keeping()
  await kept.write(acceptance(1))
  store.isAway = false
  await kept.stop()
  expect(written).toEqual(['task 1'])
  const other = keeping()
  await other.kept.write(acceptance(2))
  await other.kept.stop()
  expect(other.error.mock.calls[0]?.[0]).toMatchObject({ task: 'task 2', upstreamId: '2' })
  expect(error).not.toHaveBeenCalled()
})

it('a pending task is dropped and logged when the task has already ended', async () => {
  const { kept, written, store, error } = keeping()
  await kept.write(acceptance(1))
  expect([kept.isPending('task 1'), kept.isPending('task 2')]).toEqual([true, false])
  Object.assign(store, { isAway: false, isOver: true })
  await expect.poll(() => kept.isPending('task 1')).toBe(false)
  expect(error.mock.calls.map(([fields]) => fields)).toMatchObject([{ task: 'task 1' }])
  expect(await kept.write(acceptance(2))).toBe('TaskEnded')
  expect(error).toHaveBeenCalledTimes(2)
  await kept.stop()
  expect(written).toEqual([])
})

it('pending tasks are bounded in number and in time, and a dropped task is logged', async () => {
  const clock = { at: 1_000 }
  const { kept, written, store, error } = keeping(() => clock.at)
  for (let n = 0; n < 4_097; n += 1) await kept.write(acceptance(n))
  expect(error).toHaveBeenCalledTimes(1)
  clock.at = 24 * HOUR + 1
  await expect.poll(() => store.tries).toBeGreaterThan(0)
  store.isAway = false
  await kept.stop()
  expect(written).toEqual([])
  // Too old to matter, but not lost in silence.
  expect(error).toHaveBeenCalledTimes(4_097)
})

it('a task accepted while the store is unavailable is answered and ends normally', async () => {
  let aheadMs = 0
  const rig = await tasksRig({}, { taskMs: 100, now: () => Date.now() + aheadMs })
  try {
    const handle = rig.core.actors.handle.bind(rig.core.actors)
    let isAway = true
    const spy = vi.spyOn(rig.core.actors, 'handle')
    spy.mockImplementation((decider, stream, command, context) =>
      isAway && (command as { type: string }).type === 'AcceptTask'
        ? Promise.reject(AWAY)
        : handle(decider, stream, command, context),
    )
    const before = await rig.balance()
    const song = await rig.ask('/suno/submit/music', { prompt: 'a shanty' })
    expect(song).toMatchObject({ status: 200, json: { code: 'success' } })
    const task = song.json.data as string
    const types = async () => (await rig.taskEvents(task)).map(({ type }) => type)
    // Nobody else is known to have it, and yet it is not given up.
    aheadMs = HOUR / 2
    const readAll = vi.spyOn(rig.core.store, 'readAll')
    await expect.poll(() => readAll.mock.calls.length).toBeGreaterThan(4)
    expect(await types()).toEqual(['TaskSubmitted', 'TaskRouted'])
    isAway = false
    await expect.poll(types).toContain('TaskSucceeded')
    expect(await rig.money(task)).toEqual(['CallAdmitted', 'CallSettled'])
    expect(await rig.balance()).toBe(before - 50_000n)
  } finally {
    await rig.close()
  }
})
