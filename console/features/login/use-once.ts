import { useRef, useState } from 'react'

/** Runs one action of a form at a time. An error stays visible until the next action. */
export function useOnce() {
  const running = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState('')
  const run = async (act: () => Promise<void>): Promise<void> => {
    if (running.current) return
    running.current = true
    setBusy(true)
    setRefusal('')
    try {
      await act()
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error))
    } finally {
      running.current = false
      setBusy(false)
    }
  }
  return { isBusy, refusal, run, isUnderWay: () => running.current }
}
