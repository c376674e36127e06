import { expect, it } from 'vitest'
import { createDrain, createDrainState } from '#infra/shutdown-drain.ts'

it('a stop waits for a file that is being read, but no longer than its grace period', async () => {
  const state = createDrainState()
  state.longResponses.inFlight = 1
  let isOver = false
  const stopped = createDrain(state, null, null)
    .start(60_000)
    .then(() => {
      isOver = true
    })
  expect(state.draining.signal.aborted).toBe(true)
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  state.longResponses.inFlight = 0
  await stopped
  const kept = createDrainState()
  kept.longResponses.inFlight = 1
  await createDrain(kept, null, null).start(200)
})

it('a stop makes the relay refuse new calls from the first moment', async () => {
  const graces: number[] = []
  const relay = { inFlight: () => 0, drain: async (graceMs: number) => void graces.push(graceMs) }
  const stopped = createDrain(createDrainState(), relay, null).start(60_000)
  expect(graces).toEqual([60_000])
  await stopped
})
