/** Runs `work`. Calls with the same `name` run one at a time, in the order of the calls. */
export type KeyedMutex = <T>(name: string, work: () => Promise<T>) => Promise<T>

/**
 * Creates the mutex. A name is forgotten as soon as no work waits for it, so any number of names
 * can be used.
 */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const previous = last.get(name) ?? Promise.resolve()
    const current = previous.then(work, work)
    const settled = current.then(
      () => {},
      () => {},
    )
    last.set(name, settled)
    void settled.then(() => {
      if (last.get(name) === settled) last.delete(name)
    })
    return current
  }
}
