import { useEffect, useRef, useState } from 'react'
import { showError } from '#console/ui/messages/toast.ts'

type Part = { readonly next_cursor: string | null }

/**
 * The state of a scan. `key` identifies the inputs of the scan. When the inputs change, the result
 * is no longer shown.
 */
type Scan<Result> = {
  readonly key: string
  readonly result: Result | null
  readonly isRunning: boolean
  readonly isComplete: boolean
}

type ReadPart<Result> = (cursor: string | undefined, signal: AbortSignal) => Promise<Result>

/**
 * Runs a scan, which is a computation over all calls of a period. The period may be long and the
 * server limits the time of a request, so the period is computed in parts whose results are merged.
 * The scan ends early if the user leaves the page or `stop` is called. After `stop`, the merged
 * results of the finished parts are kept.
 */
export function useScan<Result extends Part>(
  key: string,
  merge: (all: Result, part: Result) => Result,
) {
  const [scan, setScan] = useState<Scan<Result> | null>(null)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const run = async (readPart: ReadPart<Result>): Promise<void> => {
    running.current?.abort()
    const controller = new AbortController()
    const { signal } = controller
    running.current = controller
    const show = (result: Result | null, isRunning: boolean): void =>
      setScan({ key, result, isRunning, isComplete: result?.next_cursor === null })
    let all: Result | null = null
    show(null, true)
    try {
      do {
        const part: Result = await readPart(all?.next_cursor ?? undefined, signal)
        if (signal.aborted) return
        all = all === null ? part : merge(all, part)
        show(all, all.next_cursor !== null)
      } while (all.next_cursor !== null)
    } catch (error) {
      if (signal.aborted) return
      showError(error)
      show(all, false)
    }
  }
  const stop = (): void => {
    running.current?.abort()
    setScan((now) => now && { ...now, isRunning: false })
  }
  return { scan: scan?.key === key ? scan : null, run, stop }
}
