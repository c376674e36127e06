import type { CircuitScope } from './events.ts'

/** A circuit that is not closed. `prober` null: open; else one call is trying it. */
export type Circuit = {
  readonly scope: CircuitScope
  readonly round: number
  readonly until: number
  readonly prober: string | null
}

/** By scope. Closed circuits are not in it. */
export type ChannelHealth = Map<string, Circuit>

export const initialHealth = (): ChannelHealth => new Map()
