import { scopeKey } from '#domain/channel-health/decide.ts'
import type { ChannelHealthEvent, CircuitScope } from '#domain/channel-health/events.ts'
import type { Recorded } from '#domain/shared/event.ts'

/** A circuit that is not closed. */
export type OpenCircuit = {
  readonly scope: CircuitScope
  /** The time from which one call may probe the circuit, in Unix milliseconds. */
  readonly until: number
}

/**
 * A circuit as stored in the read model. A relay loads these rows when it starts, so that it need
 * not replay all events.
 */
export type CircuitRow = OpenCircuit & { readonly position: number }

type OfChannel = { position: number; readonly open: Map<string, OpenCircuit> }

/**
 * Keeps the circuits that are not closed, by channel. The view applies the events of all processes.
 * A process applies its own events immediately and skips them when they arrive from the event
 * store.
 */
export class OpenCircuitView {
  private readonly channels = new Map<number, OfChannel>()
  private openCount = 0
  private onClosedByHand: (scope: CircuitScope) => void = () => {}

  constructor(rows: readonly CircuitRow[] = []) {
    for (const { position, ...circuit } of rows) {
      const existing = this.of(circuit.scope.channelId)
      existing.position = Math.max(existing.position, position)
      existing.open.set(scopeKey(circuit.scope), circuit)
      this.openCount += 1
    }
  }

  get areAllClosed(): boolean {
    return this.openCount === 0
  }

  find(channelId: number, model: string | null, keyRef: string | null): OpenCircuit | undefined {
    return this.channels.get(channelId)?.open.get(scopeKey({ model, keyRef }))
  }

  of(channelId: number): OfChannel {
    const existing = this.channels.get(channelId)
    if (existing !== undefined) return existing
    const made: OfChannel = { position: 0, open: new Map() }
    this.channels.set(channelId, made)
    return made
  }

  /** Sets the callback for circuits that an admin has closed. It is called in every process. */
  onClosedByAdmin(then: (scope: CircuitScope) => void): void {
    this.onClosedByHand = then
  }

  /** Applies an event. An event that has already been applied changes nothing. */
  apply({ type, data, position }: Recorded<ChannelHealthEvent>): void {
    const { channelId, model, keyRef } = data
    const existing = this.of(channelId)
    if (position <= existing.position) return
    existing.position = position
    const scope = { channelId, model, keyRef }
    const key = scopeKey(scope)
    if (existing.open.delete(key)) this.openCount -= 1
    if (type === 'CircuitClosed') {
      if (data.reason === 'admin') this.onClosedByHand(scope)
      return
    }
    existing.open.set(key, { scope, until: data.until })
    this.openCount += 1
  }
}
