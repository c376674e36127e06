/** Runs work of the same name one at a time, in the order it came. */
export type KeyedMutex = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** Names that nobody waits for are forgotten, so that they may be many. */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const before = last.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = mine.then(
      () => {},
      () => {},
    )
    last.set(name, settled)
    void settled.then(() => {
      if (last.get(name) === settled) last.delete(name)
    })
    return mine
  }
}
