import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { answerIn } from '../postgres/query-timeouts.ts'

const HEAD_WITHIN_MS = 2_000

/**
 * Functions that read the current values of this process's metrics. Each scrape calls these
 * functions.
 */
export type Readings = {
  readonly callsInFlight: () => number
  readonly eventsHead: () => Promise<number>
  readonly projectionPositions: () => ReadonlyMap<string, number>
  readonly areLimitsDegraded: () => boolean
  readonly isBusDegraded: () => boolean
  readonly busError: () => string | null
}

/**
 * A registry that collects Node's default metrics only after the first scrape, because measuring
 * the event loop's delay wakes the process a hundred times a second.
 */
class LazyRegistry extends Registry {
  private isComplete = false

  override metrics(): Promise<string> {
    this.complete()
    return super.metrics()
  }

  override getMetricsAsJSON(): ReturnType<Registry['getMetricsAsJSON']> {
    this.complete()
    return super.getMetricsAsJSON()
  }

  private complete(): void {
    if (this.isComplete) return
    this.isComplete = true
    collectDefaultMetrics({ register: this })
  }
}

/** Creates a registry with Node's default metrics and the product's metrics (`tallygate_…`). */
export function createMetrics(readings: Readings): Registry {
  const registry = new LazyRegistry()
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
    // While the store is unreachable, this metric has no sample.
    async collect() {
      const head = await answerIn(readings.eventsHead(), HEAD_WITHIN_MS).catch(() => null)
      if (head === null) this.remove()
      else this.set(head)
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
    help: '1 while Redis is unavailable and this process applies its own share of the limits',
    registers,
    collect() {
      this.set(readings.areLimitsDegraded() ? 1 : 0)
    },
  })
  addBusGauges(readings, registers)
  return registry
}

function addBusGauges(readings: Readings, registers: Registry[]): void {
  new Gauge({
    name: 'tallygate_event_bus_degraded',
    help: '1 while Kafka brings nothing and the event store is read instead',
    registers,
    collect() {
      this.set(readings.isBusDegraded() ? 1 : 0)
    },
  })
  new Gauge({
    name: 'tallygate_event_bus_fault',
    help: '1 while Kafka delivers no events until an operator intervenes; the reason says why',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset()
      const reason = readings.busError()
      if (reason !== null) this.set({ reason }, 1)
    },
  })
}
