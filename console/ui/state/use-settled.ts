import { useEffect, useState } from 'react'

/** Debounces a value by `waitMs`, so that typing does not send a request per character. */
export function useSettled<Value extends string | null>(value: Value, waitMs: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return settled
}
