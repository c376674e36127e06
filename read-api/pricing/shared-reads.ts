/**
 * Creates a function that shares the reads of concurrent callers. There is never more than one read
 * at a time. A caller shares the running read if the running read began late enough for the caller.
 * If the running read began too early, the caller waits for the next read and shares the next read
 * with all other waiting callers. If no read is running, a new read begins.
 *
 * `positionOf` returns the position at which a read begins. With `isEnough`, a caller reports
 * whether a read that began at a position contains all changes that the caller must see. By
 * default, no running read is enough, because a running read may have begun before such a change.
 * An error of a read reaches only the callers that share this read.
 */
export function createSharedReads<Result>(
  read: (position: number) => Promise<Result>,
  positionOf: () => number = () => 0,
): (isEnough?: (position: number) => boolean) => Promise<Result> {
  let running: { readonly position: number; readonly result: Promise<Result> } | null = null
  let next: Promise<Result> | null = null
  const begin = (): Promise<Result> => {
    const position = positionOf()
    next = null
    const result = read(position).finally(() => {
      running = null
    })
    running = { position, result }
    return result
  }
  return (isEnough = () => false) => {
    if (running !== null && isEnough(running.position)) return running.result
    if (next !== null) return next
    if (running === null) return begin()
    next = running.result.then(begin, begin)
    return next
  }
}
