import { expect, it } from 'vitest'
import { createMetrics } from '#infra/telemetry/metrics.ts'

it('the metrics tell when limits are no longer shared', async () => {
  let isDegraded = false
  const metrics = createMetrics({
    callsInFlight: () => 0,
    eventsHead: async () => 0,
    projectionPositions: () => new Map(),
    areLimitsDegraded: () => isDegraded,
  })
  expect(await metrics.metrics()).toMatch(/^tallygate_limits_degraded 0$/m)
  isDegraded = true
  expect(await metrics.metrics()).toMatch(/^tallygate_limits_degraded 1$/m)
})
