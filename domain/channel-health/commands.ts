import type { CircuitScope } from './events.ts'

/** How long it stays open: `baseMs`, doubled each round, up to `maxMs`; a little more by chance. */
export type Cooldown = {
  readonly baseMs: number
  readonly maxMs: number
  /** 0 up to 1: so that the circuits of one provider don't all end in the same moment. */
  readonly jitter: number
  /** What the provider itself asked for; 0 nothing. */
  readonly retryAfterMs: number
}

/** `prober` when it is the call that tried it which failed; null otherwise. */
export type OpenCircuit = {
  readonly type: 'OpenCircuit'
  readonly scope: CircuitScope
  readonly reason: string
  readonly failures: number
  readonly cooldown: Cooldown
  readonly prober: string | null
  /** Unix milliseconds. */
  readonly at: number
}

/** Asks to be the one that tries it; done in vain when it is not time, or another one's turn. */
export type ProbeCircuit = {
  readonly type: 'ProbeCircuit'
  readonly scope: CircuitScope
  readonly prober: string
  /** How long the try may take before another one may have it. */
  readonly leaseMs: number
  readonly at: number
}

/** `prober` is named by the call that tried it; a test and an admin need none. */
export type CloseCircuit = {
  readonly type: 'CloseCircuit'
  readonly scope: CircuitScope
  readonly reason: 'probe' | 'test' | 'admin'
  readonly prober: string | null
}

/** Closes every circuit of the channel: an admin changed the channel, or says that it is well. */
export type CloseCircuits = { readonly type: 'CloseCircuits'; readonly reason: 'change' | 'admin' }

export type ChannelHealthCommand = OpenCircuit | ProbeCircuit | CloseCircuit | CloseCircuits
