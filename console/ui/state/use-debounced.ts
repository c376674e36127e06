import { useEffect, useState } from 'react'

/** Returns a value once it has been unchanged for `waitMs`, so that typing sends few requests. */
export function useDebounced<Value extends string | null>(value: Value, waitMs: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return settled
}
