/**
 * Resolves with `work`, or rejects with the signal's reason as soon as it is aborted. The aborted
 * work continues unobserved, so it must end with the process or with the resources it uses.
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

/** A signal that never aborts, for starts that are not cancellable. */
export const NEVER: AbortSignal = new AbortController().signal
