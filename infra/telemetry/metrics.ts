import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** What the process can say of itself when scraped; each is asked at that moment. */
export type Readings = {
  readonly callsInFlight: () => number
  readonly eventsHead: () => Promise<number>
  readonly projectionPositions: () => ReadonlyMap<string, number>
  readonly areLimitsDegraded: () => boolean
}

/** A registry with Node's own metrics and ours (`tallygate_…`), in Prometheus' text format. */
export function createMetrics(readings: Readings): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  new Gauge({
    name: 'tallygate_relay_calls_in_flight',
    help: 'Relay calls admitted or being answered now',
    registers,
    collect() {
      this.set(readings.callsInFlight())
    },
  })
  new Gauge({
    name: 'tallygate_event_store_position',
    help: 'Global position of the last event',
    registers,
    async collect() {
      this.set(await readings.eventsHead())
    },
  })
  new Gauge({
    name: 'tallygate_projection_position',
    help: 'Position up to which a read model includes the events',
    labelNames: ['projection'],
    registers,
    collect() {
      for (const [projection, position] of readings.projectionPositions()) {
        this.set({ projection }, position)
      }
    },
  })
  new Gauge({
    name: 'tallygate_limits_degraded',
    help: '1 while Redis is lost and this process keeps its share of the limits itself',
    registers,
    collect() {
      this.set(readings.areLimitsDegraded() ? 1 : 0)
    },
  })
  return registry
}
