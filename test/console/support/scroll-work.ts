import type { Locator, Page } from 'playwright-core'

const FRAMES = 60
const STEP_PX = 60
const WAYS = 5

/** The duration (ms) of a frame at 60 frames per second. */
export const FRAME_MS = 1_000 / 60

/**
 * Returns the main thread's work per frame (ms) in five runs, while a list scrolls 3 600 pixels per
 * second. Other processes do not affect the measured thread time.
 */
export async function scrollWork(page: Page, list: Locator): Promise<readonly number[]> {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const workMs = async () => {
    const { metrics } = await devTools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000
  }
  await scrollOn(list)
  const perFrame: number[] = []
  for (let way = 0; way < WAYS; way += 1) {
    const before = await workMs()
    await scrollOn(list)
    perFrame.push(((await workMs()) - before) / FRAMES)
  }
  return perFrame
}

/** Scrolls by one step in each frame. */
const scrollOn = (list: Locator) =>
  list.evaluate(
    (grid, { frames, stepPx }) =>
      new Promise<void>((done) => {
        let left = frames
        const step = () => {
          grid.scrollTop += stepPx
          left -= 1
          if (left === 0) done()
          else requestAnimationFrame(step)
        }
        requestAnimationFrame(step)
      }),
    { frames: FRAMES, stepPx: STEP_PX },
  )
