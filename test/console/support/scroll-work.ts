import type { Locator, Page } from 'playwright-core'

const FRAMES = 60
const STEP_PX = 60
const WAYS = 5

/** Milliseconds of a frame at 60 of them a second. */
export const FRAME_MS = 1_000 / 60

/**
 * What the page's own thread works for a frame, in milliseconds, whatever else the machine is busy
 * with, while a list scrolls 3 600 pixels a second: faster than can be read. One figure a way.
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

/** A step in each of so many frames. */
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
