import { useEffect, useState } from 'react'

/**
 * Returns the value after it has been unchanged for `waitMs`. A search that uses it sends fewer
 * requests while the user types.
 */
export function useDebounced<Value extends string | null>(value: Value, waitMs: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return settled
}
