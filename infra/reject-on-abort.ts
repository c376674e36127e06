/**
 * Settles as `work` does, but rejects at once if `signal` aborts first. An abort does not cancel
 * `work`.
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

export const NEVER: AbortSignal = new AbortController().signal
