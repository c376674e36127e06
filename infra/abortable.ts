/**
 * Resolves with the result of `work`, or rejects with the signal's reason when the signal aborts
 * first. `work` itself is not cancelled. It continues until it ends, until its resources are closed
 * or until the process exits.
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const listening = new AbortController()
  const aborted = new Promise<never>((_resolve, reject) => {
    const fail = () => reject(signal.reason)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { signal: listening.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    listening.abort()
  }
}

/** A signal that never aborts, for a start that can't be cancelled. */
export const NEVER: AbortSignal = new AbortController().signal
