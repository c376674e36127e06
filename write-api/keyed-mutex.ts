/** Runs pieces of work that have the same name one at a time, in the order of the calls. */
export type KeyedMutex = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** A name is removed as soon as no work waits for it. Any number of names can therefore be used. */
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
