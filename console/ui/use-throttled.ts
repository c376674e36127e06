import { useCallback, useEffect, useEffectEvent, useRef } from 'react'

/** Runs `act` at once and then at most every `everyMs`, and once more after the last request. */
export function useThrottled(act: () => void, everyMs: number): () => void {
  const run = useEffectEvent(act)
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const isWanted = useRef(false)
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current)
      timer.current = null
    },
    [],
  )
  return useCallback(() => {
    isWanted.current = true
    const turn = (): void => {
      timer.current = null
      if (!isWanted.current) return
      isWanted.current = false
      run()
      timer.current = setTimeout(turn, everyMs)
    }
    if (timer.current === null) turn()
  }, [everyMs])
}
