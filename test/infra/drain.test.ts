import { expect, it } from 'vitest'
import { createDrain, notDraining } from '#infra/drain.ts'

it('a stop waits for a file that is being read, and no longer than its grace', async () => {
  const state = notDraining()
  state.longAnswers.underWay = 1
  let isOver = false
  const stopped = createDrain(state, null, null)
    .start(60_000)
    .then(() => {
      isOver = true
    })
  await expect.poll(() => state.isRefusing, { timeout: 10_000 }).toBe(true)
  expect(isOver).toBe(false)
  state.longAnswers.underWay = 0
  await stopped
  const kept = notDraining()
  kept.longAnswers.underWay = 1
  await createDrain(kept, null, null).start(200)
})
