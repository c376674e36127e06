/** Wakes a pausing background job when there is new work. */
export type WakeSignal = {
  readonly wake: () => void
  /** Returns a signal that aborts at the next call of `wake`. */
  readonly next: () => AbortSignal
}

export function createWakeSignal(): WakeSignal {
  let current = new AbortController()
  return {
    wake: () => current.abort(),
    next: () => {
      if (current.signal.aborted) current = new AbortController()
      return current.signal
    },
  }
}
