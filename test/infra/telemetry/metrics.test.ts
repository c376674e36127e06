import { expect, it } from 'vitest'
import { createMetrics } from '#infra/telemetry/metrics.ts'

it('the metrics show that limits are no longer shared, and what the bus lacks', async () => {
  let isDegraded = false
  let error: string | null = 'the topic has 4 partitions of 8'
  const metrics = createMetrics({
    callsInFlight: () => 0,
    eventsHead: async () => 0,
    projectionPositions: () => new Map(),
    areLimitsDegraded: () => isDegraded,
    isBusDegraded: () => !isDegraded,
    busError: () => error,
  })
  expect(await metrics.metrics()).toMatch(/^tallygate_limits_degraded 0$/m)
  expect(await metrics.metrics()).toMatch(/^tallygate_event_bus_degraded 1$/m)
  const faultLine = /^tallygate_event_bus_fault{reason="the topic has 4 partitions of 8"} 1$/m
  expect(await metrics.metrics()).toMatch(faultLine)
  isDegraded = true
  error = null
  expect(await metrics.metrics()).not.toMatch(/^tallygate_event_bus_fault/m)
  expect(await metrics.metrics()).toMatch(/^tallygate_limits_degraded 1$/m)
})

it('the metrics without the event store still contain all other values', async () => {
  let isThere = true
  const metrics = createMetrics({
    callsInFlight: () => 3,
    eventsHead: () => (isThere ? Promise.resolve(41) : Promise.reject(new Error('away'))),
    projectionPositions: () => new Map([['users', 40]]),
    areLimitsDegraded: () => false,
    isBusDegraded: () => false,
    busError: () => null,
  })
  expect(await metrics.metrics()).toMatch(/^tallygate_event_store_position 41$/m)
  isThere = false
  const text = await metrics.metrics()
  expect(text).not.toMatch(/^tallygate_event_store_position /m)
  expect(text).toMatch(/^tallygate_relay_calls_in_flight 3$/m)
  expect(text).toMatch(/^tallygate_projection_position{projection="users"} 40$/m)
})
