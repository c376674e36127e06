import { expect, it } from 'vitest'
import type {
  CallAtProvider,
  CancellableBackgroundResponse,
} from '#relay/pipeline/background-response-left-running.ts'
import { Cancellations } from '#relay/pipeline/cancel-background-responses.ts'

const UNAWAITED_MAX = 256
const at = { call: { origin: 'http://x', path: '/', headers: [] } } as unknown as CallAtProvider

/** A response whose cancellation lasts until its signal is aborted or the function is called. */
function hanging() {
  let end = () => {}
  const cancel = (_at: CallAtProvider, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      end = resolve
      signal.addEventListener('abort', () => resolve())
    })
  return { response: { cancel } as unknown as CancellableBackgroundResponse, end: () => end() }
}

it('calls wait for their cancellations only while too many are under way', async () => {
  const cancellations = new Cancellations(600_000)
  const awaited: Promise<void>[] = []
  const [first, ...others] = Array.from({ length: UNAWAITED_MAX }, hanging)
  for (const { response } of [first, ...others].filter((one) => one !== undefined)) {
    cancellations.begin(response, at, awaited)
  }
  expect([cancellations.size, awaited.length]).toEqual([UNAWAITED_MAX, 0])
  const excess = hanging()
  cancellations.begin(excess.response, at, awaited)
  expect(awaited).toHaveLength(1)
  excess.end()
  await awaited[0]
  first?.end()
  await expect.poll(() => cancellations.size).toBe(UNAWAITED_MAX - 1)
  cancellations.begin(hanging().response, at, awaited)
  expect(awaited).toHaveLength(1)
})

it('a shutdown ends cancellations that take too long, and later ones as well', async () => {
  const cancellations = new Cancellations(600_000)
  cancellations.begin(hanging().response, at, [])
  cancellations.limitForShutdown()
  cancellations.begin(hanging().response, at, [])
  await expect.poll(() => cancellations.size).toBe(0)
})
