/**
 * `work`, or a rejection with the signal's reason as soon as it is aborted. What was begun goes on
 * unobserved: only for what ends with the process, or by the closing of what it stands on.
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

/** For a start that nobody stops. */
export const NEVER: AbortSignal = new AbortController().signal
