/** One at a time for each name, in order. `T` passes from one to the next while any waits. */
export type Turns<T> = <R>(
  name: string,
  work: (handedOn: T | null) => Promise<{ readonly result: R; readonly handOn: T | null }>,
) => Promise<R>

export function createTurns<T>(): Turns<T> {
  const lasts = new Map<string, Promise<T | null>>()
  return async (name, work) => {
    const before = lasts.get(name) ?? Promise.resolve(null)
    const outcome = before.then(work)
    const last = outcome.then(
      ({ handOn }) => handOn,
      () => null,
    )
    lasts.set(name, last)
    try {
      return (await outcome).result
    } finally {
      if (lasts.get(name) === last) lasts.delete(name)
    }
  }
}
