import { useEffect, useState } from 'react'
import { useStatus } from '#console/api/status/status.ts'

const KEY = 'footer_html'
const LOOKS_MAX = 5
const LOOK_MS = 200

/**
 * The operator's footer, from the status once it is known; before that from the copy of the last
 * visit, which is looked for up to five times.
 */
export function useFooterHtml(): string {
  const fromStatus = useStatus()?.footer_html
  const [stored, setStored] = useState(() => localStorage.getItem(KEY) ?? '')
  useEffect(() => {
    if (fromStatus !== undefined || stored !== '') return
    let looks = 0
    const timer = setInterval(() => {
      if (document.hidden) return
      looks += 1
      setStored(localStorage.getItem(KEY) ?? '')
      if (looks >= LOOKS_MAX) clearInterval(timer)
    }, LOOK_MS)
    return () => clearInterval(timer)
  }, [fromStatus, stored])
  return fromStatus ?? stored
}
