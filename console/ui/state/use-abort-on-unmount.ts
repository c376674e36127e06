import { type RefObject, useEffect, useRef } from 'react'

/** Returns a ref to a controller that aborts when the component is unmounted. */
export function useAbortOnUnmount(): RefObject<AbortController> {
  const ref = useRef(new AbortController())
  useEffect(() => {
    // Each mount gets a new controller, because an aborted controller stays aborted.
    const controller = new AbortController()
    ref.current = controller
    return () => controller.abort()
  }, [])
  return ref
}
